"""The audit against the real ms-swift and a real tokenizer: a small model whose tokens are bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.audits import Audits
from services.datasets.scan import Stopped
from services.hardware.machine import Machine
from services.models.reference import Models
from services.runs import process
from services.runs.folder import RunState
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import AuditSpec
from tests.conftest import Watch
from tests.trainable_model import make_trainable_model

HEAD = len("<|im_start|>user\n") - len("<|im_start|>") + 1
"""Tokens of a turn's beginning: a special token and one token a byte."""


@pytest.fixture
def audits(settings: Settings, runs: Runs, machine: Machine, tmp_path: Path) -> Audits:
    model = make_trainable_model(tmp_path / "starter")
    there = replace(settings, starter=model)
    return Audits(there, runs, Models(there, runs), lambda: machine, process.python())


def chat(*texts: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant") * len(texts)
    return {"messages": [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)], **more}


def written(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / "rows 数据.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_tokens_are_counted_marked_and_kept_for_the_next_time(audits: Audits, tmp_path: Path) -> None:
    rows = [chat("Hi", "Hello"), chat("x" * 600, "short"), chat("Hi", "y" * 600), {"messages": None}, chat("é", "ü")]
    path = written(tmp_path, rows)
    heard: list[tuple[str, float]] = []
    outcome = audits.check(path, max_length=512, progress=lambda stage, part: heard.append((stage, part)))
    audit, report = outcome.audit, outcome.report
    assert audit is not None and (audit.total, audit.audited, audit.complete) == (5, 5, True)
    assert (report.rows, report.usable, report.verdict) == (5, 2, "ok-with-warnings")
    over = next(finding for finding in report.findings if finding.code == "length_over")
    assert over.rows == (2, 3) and (over.values["cut"], over.values["empty"]) == (1, 1)
    tokens = audit.tokens[1]
    assert "".join(text for text, _ in tokens).startswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert "".join(text for text, trained in tokens if trained).startswith("Hello<|im_end|>")
    assert all(audit.lengths.ends)
    assert "".join(text for text, trained in audit.tokens[5] if trained).startswith("ü<|im_end|>")
    assert ("audit", 1.0) in heard and audits.expected_tokens([path], "starter") == audit.mean_tokens
    again = audits.check(path, max_length=4_000)
    assert again.audit == audit and again.report.usable == 4
    assert again.report.stages[-1].seconds < 1


def test_pairs_are_as_long_as_their_longer_side(audits: Audits, tmp_path: Path) -> None:
    rows = [
        {"prompt": "Hi", "chosen": "a", "rejected": "b" * 300},
        {"prompt": "Hi", "chosen": "a" * 9, "rejected": "b"},
    ]
    outcome = audits.check(written(tmp_path, rows), task="dpo", max_length=200)
    assert outcome.audit is not None and outcome.report.usable == 1
    assert outcome.audit.lengths.tokens[0] > 300 > outcome.audit.lengths.tokens[1]


def test_a_model_that_ms_swift_cannot_load_is_a_remark_and_no_end(audits: Audits, tmp_path: Path) -> None:
    (audits.settings.starter / "tokenizer.json").write_text("{}")
    outcome = audits.check(written(tmp_path, [chat("Hi", "Hello")]))
    assert outcome.audit is None and outcome.report.verdict == "ok"
    assert [finding.code for finding in outcome.report.findings] == ["audit_missing"]


def test_counting_tokens_can_be_stopped_while_ms_swift_loads(audits: Audits, tmp_path: Path) -> None:
    path = written(tmp_path, [chat("Hi", "Hello")])
    seen: list[float] = []

    def stop() -> bool:
        seen.append(1)
        return len(seen) > 3

    with pytest.raises(Stopped):
        audits.check(path, stop=stop)


def test_all_rows_are_audited_by_a_run(audits: Audits, tmp_path: Path) -> None:
    path = written(tmp_path, [chat(f"Question {n * 7919:x} of {n * n:x}", "y" * (n % 50)) for n in range(3_000)])
    held = tmp_path / "held.jsonl"
    held.write_text(json.dumps(chat(f"Question {7919 * 40:x} of {1600:x}", "y" * 40)) + "\n")
    record = audits.start(AuditSpec(dataset=str(path), validation=(str(held),)))
    Watch(audits.runs, record.id).until(RunState.SUCCEEDED, within_s=120)
    audit = audits.result(record.id)
    assert (audit.total, audit.audited, audit.lengths.rows) == (3_000, 3_000, 3_000)
    assert audits.runs.snapshot(record.id).step == 3_000
    leak = next(one for one in audits.repeats(record.id) if one.code == "rows_leak_near")
    assert leak.count == 1 and "held.jsonl 1 ≈" in str(leak.values["words"])
