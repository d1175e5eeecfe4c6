"""What an audit adds to a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from services.datasets import audit as audits
from services.datasets.audit import Audit, audit_from_json, expected_tokens, last_audit
from services.datasets.audited import add_audit
from services.datasets.check import Checked, inspect
from services.datasets.lengths import Lengths
from services.datasets.report import Finding, Report
from services.settings import Settings
from services.swift.commands import Source
from services.text import LANGUAGES, say


def checked(tmp_path: Path, count: int) -> Checked:
    path = tmp_path / "a.jsonl"
    subjects = ["cats", "stone bridges", "the tide at night", "old violins", "rice", "a letter to nobody", "wool"]
    rows = [
        {"messages": [{"role": "user", "content": f"{subjects[n % 7]} {n * 7919} {subjects[n * 3 % 7]}?"},
                      {"role": "assistant", "content": f"{n * 104729} {subjects[n * 5 % 7]}"}]}
        for n in range(count)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return inspect(path)


def made(one: Checked, tokens_of: list[int], firsts: list[int], **more: Any) -> Audit:
    numbers = tuple(range(1, len(tokens_of) + 1))
    column = Lengths(
        numbers, tuple(tokens_of), tuple(firsts), tuple(length - 1 for length in tokens_of),
        tuple(length - first for length, first in zip(tokens_of, firsts, strict=True)), (True,) * len(tokens_of),
    )  # fmt: skip
    known = {"dropped": (), "special": (), "tokens": {}, "template": "chatml", "model_max_length": 8192}
    total = one.report.rows
    fields = {"audited": len(tokens_of), "lengths": column, **known, **more}
    return Audit(path=one.report.path, model="m", task="sft", total=total, **fields)


def found(report: Report, code: str) -> Finding:
    return next(finding for finding in report.findings if finding.code == code)


def test_rows_whose_questions_alone_are_too_long_block_and_say_what_they_need(tmp_path: Path) -> None:
    one = checked(tmp_path, 20)
    report = add_audit(one, made(one, [3_000 + n for n in range(20)], [2_990] * 20), 2048)
    assert (report.verdict, report.usable, report.after_fix.usable) == ("blocked", 0, 0)
    text = say("dataset.finding.length_none_left", "en", **found(report, "length_none_left").gaps())
    assert text.startswith("20 of 20 rows keep no trained token at 2048; they need 3019.")


def test_some_rows_too_long_are_counted_out_and_named_with_their_lengths(tmp_path: Path) -> None:
    one = checked(tmp_path, 4)
    report = add_audit(one, made(one, [100, 700, 90, 800], [10, 20, 10, 790]), 512)
    finding = found(report, "length_over")
    assert (report.verdict, report.usable, report.after_fix.usable) == ("ok-with-warnings", 2, 4)
    assert finding.rows == (2, 4) and finding.values["words"] == "2 (700), 4 (800)"
    assert (finding.values["cut"], finding.values["empty"], finding.values["needed"]) == (1, 1, "800")
    assert [stage.name for stage in report.stages] == ["look", "scan", "audit"]


def test_cut_at_the_end_only_rows_without_an_answer_are_lost(tmp_path: Path) -> None:
    one = checked(tmp_path, 4)
    report = add_audit(one, made(one, [100, 700, 90, 800], [10, 20, 10, 790]), 512, "right")
    assert report.usable == 3
    assert found(report, "length_cut").count == 2 and found(report, "length_no_trained").rows == (4,)


def test_of_a_sample_the_loss_is_scaled_to_the_file(tmp_path: Path) -> None:
    one = checked(tmp_path, 100)
    audit = made(one, [100] * 9 + [900], [10] * 10)
    report = add_audit(one, audit, 512)
    assert report.usable == 90 and not audit.complete
    assert (audit.tokens_in_all, audit.rows_kept(512, "delete"), audit.rows_kept(512, "right")) == (18_000, 90, 100)
    assert (audit.steps(512, "delete", 16), audit.steps(1_000, "delete", 1, packing=True)) == (6, 20)
    assert found(report, "audit_sample").values["total"] == "100"


def test_rows_that_the_check_lost_already_are_not_lost_twice(tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_text('{"messages": null}\n{"query": "q"}\n{"messages": [{"role": "user", "content": "q"}, '
                    '{"role": "assistant", "content": "a"}]}\n')  # fmt: skip
    one = inspect(path)
    lengths = Lengths((3,), (10,), (5,), (9,), (5,), (True,))
    audit = Audit(path, "m", "sft", 3, 3, lengths, ((1, ""), (2, "")), (), {}, "chatml", None)
    report = add_audit(one, audit, 512)
    assert report.usable == 1 and "audit_dropped" not in {finding.code for finding in report.findings}


def test_rows_that_only_ms_swift_drops_are_told_with_its_reason(tmp_path: Path) -> None:
    one = checked(tmp_path, 3)
    audit = made(one, [10, 10], [5, 5], dropped=((3, "ValueError: no"),), audited=3)
    report = add_audit(one, audit, 512)
    assert report.usable == 2
    assert found(report, "audit_dropped").values["words"] == "ValueError: no (1)"


def test_all_that_an_audit_says_can_be_said(tmp_path: Path) -> None:
    one = checked(tmp_path, 6)
    special = ((1, "<|im_end|>"),)
    lengths = Lengths((1, 2, 3), (10, 900, 600), (5, 890, 10), (9, 899, 599), (5, 10, 590), (False, True, True))
    audit = made(one, [1], [0], special=special, dropped=((4, "E: x"),), lengths=lengths)
    for strategy in ("delete", "right", "left"):
        report = add_audit(one, audit, 512, strategy)  # type: ignore[arg-type]
        for finding in report.findings:
            for lang in LANGUAGES:
                assert say(f"dataset.finding.{finding.code}", lang, **finding.gaps())


def test_an_audit_survives_being_written(tmp_path: Path) -> None:
    one = checked(tmp_path, 2)
    audit = made(one, [10, 20], [5, 5], tokens={1: (("a", False), ("b", True))}, dropped=((2, ""),))
    assert audit_from_json(json.loads(json.dumps(audit.as_json()))) == audit


def test_the_planner_gets_the_mean_of_files_that_were_audited(tmp_path: Path) -> None:
    one, source = checked(tmp_path, 4), Source(str(tmp_path / "model"))
    settings = Settings(home=tmp_path, starter=tmp_path, roots=(tmp_path,))
    path = one.report.path
    assert expected_tokens([path], source, settings) is None
    place = settings.cache / "audits" / f"{audits._file_key(path, source)}-x.json"
    audits._keep(place, made(one, [10, 20, 30, 40], [5] * 4))
    assert expected_tokens([path], source, settings) == 25
    assert expected_tokens([path], Source("another/model", local=False), settings) is None
    path.write_text(path.read_text() + "\n")
    assert last_audit(path, source, settings) is None
