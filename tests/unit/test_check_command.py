"""``tunedesk check``: its JSON, its text and its exit codes; tokens are counted elsewhere (blocked files have none)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from services import cli
from services.audits import Audits
from services.bootstrap import Services
from services.datasets.audited import Outcome
from services.datasets.check import Checked
from services.errors import Refused

DATA = Path(__file__).parents[1] / "data"
BLOCKED = DATA / "check" / "thumbs_numbers.csv"


@pytest.fixture(autouse=True)
def without_tokens(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """The services of a test, which may read the test data, and no ms-swift."""

    def audit(self: Audits, checked: Checked, *_: Any, **__: Any) -> Outcome:
        return Outcome(checked.report)

    monkeypatch.setattr(Audits, "audit", audit)
    object.__setattr__(services.settings, "roots", (Path("/"),))
    monkeypatch.setattr(cli.context, "_services", services)
    monkeypatch.setattr(cli.context, "lang", "en")


def run(*words: object) -> Result:
    return CliRunner().invoke(cli.app, ["check", *map(str, words)])


def test_one_file_is_one_object_with_all_that_is_promised() -> None:
    value = json.loads(run(BLOCKED, "--task", "kto", "--json").stdout)
    promised = {"verdict", "format", "rows", "usable", "after_fix", "mapping", "findings", "stages", "settings", "env"}
    assert promised <= value.keys()
    assert (value["verdict"], value["format"], value["rows"], value["usable"]) == ("blocked", "kto", 6, 0)
    assert value["after_fix"] == {"verdict": "ok", "usable": 6}
    first = value["findings"][0]
    assert {"code", "message", "rows", "fix"} <= first.keys()
    assert (first["code"], first["rows"], first["fix"]) == ("label_number", [1, 3, 5], "kto_labels")
    assert [stage["name"] for stage in value["stages"]] == ["look", "scan"]


def test_a_blocked_file_was_checked_all_the_same() -> None:
    shown = run(BLOCKED, "--task", "kto")
    assert shown.exit_code == 0
    assert "Cannot be trained on as it is" in shown.stdout and "✗ The label is a number" in shown.stdout


def test_several_files_are_a_list() -> None:
    values = json.loads(run(DATA / "chat_good.jsonl", DATA / "login_page.jsonl", "--json").stdout)
    assert [value["verdict"] for value in values] == ["ok", "blocked"]


def test_rows_of_the_validation_file_are_looked_for(tmp_path: Path) -> None:
    rows = (DATA / "chat_good.jsonl").read_text().splitlines()
    held = tmp_path / "held.jsonl"
    held.write_text(rows[1] + "\n" + '{"query": "new", "response": "row"}\n')
    value = json.loads(run(DATA / "chat_good.jsonl", "--validation", held, "--json").stdout)
    assert value["leaks"]["count"] == 1 and "held.jsonl 1 = chat_good.jsonl 2" in value["leaks"]["message"]
    assert "1 rows of the validation data" in run(DATA / "chat_good.jsonl", "--validation", held).stdout


@pytest.mark.parametrize(
    ("words", "code"), [(("x", "--task", "magic"), "check_task"), (("gone.jsonl",), "path_not_found")]
)
def test_what_cannot_be_checked_is_refused(words: tuple[str, ...], code: str) -> None:
    refused = run(*words).exception
    assert isinstance(refused, Refused) and refused.code == code
