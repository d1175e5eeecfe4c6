"""Checks with a model, as far as no tokenizer is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.bootstrap import Services
from services.datasets.said import outcome_as_text
from services.errors import Refused
from services.specs import AuditSpec
from services.text import LANGUAGES

DATA = Path(__file__).parents[1] / "data"
GOOD, BLOCKED = DATA / "chat_good.jsonl", DATA / "semicolon.csv"


def test_without_the_model_the_other_stages_are_done_and_the_reason_is_said(services: Services) -> None:
    outcome = services.audits.check(GOOD, model="run-that-is-gone")
    assert (outcome.report.verdict, outcome.report.usable, outcome.audit) == ("ok", 4, None)
    for lang in LANGUAGES:
        assert "run-that-is-gone" in outcome_as_text(outcome, lang)


def test_tokens_of_a_blocked_file_are_not_counted(services: Services) -> None:
    outcome = services.audits.check(BLOCKED)
    assert outcome.audit is None
    assert [stage.name for stage in outcome.report.stages] == ["look", "scan"]


def test_an_audit_of_all_rows_is_a_run_of_its_own_with_its_job_in_the_folder(services: Services) -> None:
    object.__setattr__(services.settings, "roots", (Path("/"),))
    spec = AuditSpec(dataset=str(GOOD), template={"system": "Be kind."})
    plan = services.audits.prepare(spec)
    job = json.loads(plan.files["job.json"])
    assert (plan.kind, plan.needs, plan.argv[1:4]) == ("audit", "cpu", ("-P", "-m", "services.swift.supervision"))
    assert (job["path"], job["template"], job["task"]) == (str(GOOD), {"default_system": "Be kind."}, "sft")
    assert json.loads(plan.files["about.json"])["total"] == 4
    assert plan.filled({"run": "/r"}).argv[-2:] == ("/r/job.json", "/r/audit.json")
    compares = ("-m", "services.datasets.repeats", "/r/compared.json", "/r/repeats.json")
    assert plan.filled({"run": "/r"}).then[2:] == compares


def test_an_audit_of_all_rows_looks_for_validation_rows_too(services: Services) -> None:
    object.__setattr__(services.settings, "roots", (Path("/"),))
    plan = services.audits.prepare(AuditSpec(dataset=str(GOOD), validation=(str(GOOD),)))
    assert json.loads(plan.files["compared.json"])["held"] == [str(GOOD)]
    with pytest.raises(Refused, match="path_not_found"):
        services.audits.prepare(AuditSpec(dataset=str(GOOD), validation=("/none.jsonl",)))


def test_an_audit_of_a_blocked_file_is_refused_with_the_reason(services: Services) -> None:
    object.__setattr__(services.settings, "roots", (Path("/"),))
    with pytest.raises(Refused) as refused:
        services.audits.prepare(AuditSpec(dataset=str(BLOCKED)))
    assert refused.value.code == "dataset_blocked" and refused.value.values["reason"] == "dataset.finding.csv_delimiter"
