"""Each shape in which data fails gets its verdict: tests/data/check/expected.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from services.datasets.audited import Outcome
from services.datasets.check import check
from services.datasets.report import FIXES, Report
from services.datasets.said import outcome_as_json, outcome_as_text
from services.text import LANGUAGES

FOLDER = Path(__file__).parents[1] / "data" / "check"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))


def report_on(name: str) -> Report:
    return check(FOLDER / name, task=EXPECTED[name]["task"], template="chatml")


@pytest.mark.parametrize("name", EXPECTED)
def test_the_file_gets_its_verdict(name: str) -> None:
    report, wanted = report_on(name), EXPECTED[name]
    assert {
        "task": report.task,
        "verdict": report.verdict,
        "format": report.format,
        "rows": report.rows,
        "usable": report.usable,
        "after_fix": [report.after_fix.verdict, report.after_fix.usable],
        "mapping": dict(report.mapping),
        "findings": {finding.code: list(finding.rows) for finding in report.findings},
    } == {key: value for key, value in wanted.items() if key != "settings"}
    assert dict(report.settings) == wanted.get("settings", {})


def test_no_file_lies_there_without_an_expectation() -> None:
    held = {name.split("/")[0] for name in EXPECTED} | {"expected.yaml"}
    assert {path.name for path in FOLDER.iterdir()} == held


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", EXPECTED)
def test_what_was_found_can_be_said(name: str, lang: str) -> None:
    report = report_on(name)
    value, text = outcome_as_json(Outcome(report), lang), outcome_as_text(Outcome(report), lang)
    assert value["verdict"] == report.verdict and len(value["findings"]) == len(report.findings)
    assert all(finding["message"] in text for finding in value["findings"])
    assert "{" not in text.replace("{\"", "")


def test_pictures_beside_the_file_are_found_by_a_variable() -> None:
    assert report_on("pictures/captions.jsonl").env == {"ROOT_IMAGE_DIR": str(FOLDER / "pictures")}


def test_a_model_whose_template_knows_tools_gets_no_other_agent_template() -> None:
    assert "agent_template" not in check(FOLDER / "tools.jsonl", template="qwen").settings
    assert "agent_template" not in check(FOLDER / "tools.jsonl").settings


def test_repairs_are_those_that_can_be_made() -> None:
    from services.datasets import mend

    known = set(mend.FIXES)
    assert {fix for fix in FIXES.values() if not fix.startswith("drop:")} <= known
