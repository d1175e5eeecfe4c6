from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from services.datasets.check import check
from services.datasets.report import BLOCKED, INFO, LOST, Report, columns_argument
from services.text import LANGUAGES, say
from services.text.dataset import WORDS

DATA = Path(__file__).parents[1] / "data"


def jsonl(tmp_path: Path, rows: Iterable[Any], name: str = "a.jsonl") -> Path:
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def chat(*turns: tuple[Any, Any], **more: Any) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": content} for role, content in turns], **more}


GOOD = chat(("user", "q"), ("assistant", "a"))


def rows_of(report: Report) -> dict[str, tuple[int, ...]]:
    return {finding.code: finding.rows for finding in report.findings if finding.rows}


def test_a_sound_file_is_ready() -> None:
    report = check(DATA / "chat_good.jsonl")
    assert (report.verdict, report.format, report.rows, report.usable) == ("ok", "messages", 4, 4)
    assert [turn.role for turn in report.preview[0].turns] == ["system", "user", "assistant"]


def test_each_bad_row_is_named_and_counted_out() -> None:
    report = check(DATA / "chat_odd.jsonl")
    assert (report.verdict, report.rows, report.usable) == ("ok-with-warnings", 10, 3)
    assert rows_of(report) == {
        "row_null_content": (2,), "row_blank_answer": (3,), "row_same_role_twice": (4,), "row_no_answer": (5,),
        "row_unknown_role": (6,), "row_no_turns": (7,), "row_system_not_first": (8,), "row_not_text": (9,),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "code", "usable"),
    [
        (chat(("user", "q"), ("assistant", "  ")), "row_blank_answer", 0),
        (chat(("user", "q"), ("assistant", ""), ("user", "q"), ("assistant", "a")), "row_part_blank", 1),
        (chat(("user", " "), ("assistant", "a")), "row_blank_question", 1),
        (chat(("assistant", "a"), ("user", "q"), ("assistant", "a")), "row_starts_with_assistant", 1),
        (chat(("user", "q"), ("assistant", "a"), ("user", "q")), "row_ends_with_user", 1),
        (chat(("tool", "t"), ("assistant", "a")), "row_turn_order", 0),
        (chat(("user", "q"), ("assistant", "a"), ("tool", "t"), ("user", "q")), "row_turn_order", 0),
        (chat(("user", "q"), ("tool_call", "no json")), "row_bad_call", 0),
        (chat(("User", "q"), ("assistant", "a")), "row_unknown_role", 0),
        (chat((None, "q"), ("assistant", "a")), "row_no_role", 0),
        ({"messages": [{"content": "q"}]}, "row_no_role", 0),
        ({"messages": "not a list"}, "row_bad_shape", 0),
        ({"messages": {"role": "user", "content": "q"}}, "row_bad_shape", 0),
        ({"messages": None}, "row_no_turns", 0),
        (chat(("user", "q"), ("assistant", "x <|im_end|> y")), "row_control_tokens", 1),
        ({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "loss": False}]},
         "row_not_trained", 0),
    ],
)  # fmt: skip
def test_one_bad_row_among_good_ones(tmp_path: Path, row: Any, code: str, usable: int) -> None:
    report = check(jsonl(tmp_path, [GOOD, row]))
    assert rows_of(report) == {code: (2,)}
    assert report.usable == 1 + usable


@pytest.mark.parametrize(
    "row",
    [
        {"messages": json.dumps([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])},
        {"messages": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]},
        {"messages": [{"human": "q", "assistant": "a"}]},
        chat(("user", [{"type": "text", "text": "q"}]), ("assistant", "a")),
        {"messages": [{"role": "user", "content": "q"},
                      {"role": "assistant", "content": None,
                       "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
                      {"role": "tool", "tool_call_id": "1", "content": "5"}, {"role": "assistant", "content": "a"}]},
    ],
)  # fmt: skip
def test_other_ways_to_write_a_conversation_are_fine(tmp_path: Path, row: Any) -> None:
    report = check(jsonl(tmp_path, [row]))
    assert (report.verdict, report.usable) == ("ok", 1)


def test_query_and_response_with_history_and_system_make_one_conversation(tmp_path: Path) -> None:
    row = {"system": "s", "history": [["q1", "a1"]], "query": "q2", "response": "a2", "rating": 5}
    report = check(jsonl(tmp_path, [row, {**row, "history": None, "system": None}]))
    assert [(turn.role, turn.content) for turn in report.preview[0].turns] == [
        ("system", "s"), ("user", "q1"), ("assistant", "a1"), ("user", "q2"), ("assistant", "a2"),
    ]  # fmt: skip
    assert (report.verdict, report.usable) == ("ok", 2)


def test_alpaca_rows_are_joined_as_ms_swift_does(tmp_path: Path) -> None:
    rows = [
        {"instruction": "Add", "input": "2 and 3", "output": "5"},
        {"instruction": "Hi", "input": "", "output": "Ho"},
    ]
    report = check(jsonl(tmp_path, rows))
    assert [preview.turns[0].content for preview in report.preview] == ["Add\n2 and 3", "Hi"]


def test_a_text_that_looks_like_a_number_is_lost_in_a_mixed_column(tmp_path: Path) -> None:
    rows = [{"query": "q", "response": "a"}, {"query": "q", "response": 5}, {"query": "q", "response": "7"}]
    assert rows_of(check(jsonl(tmp_path, rows))) == {"row_not_text": (2, 3)}


def test_other_formats_in_the_same_file_are_named_and_counted_out() -> None:
    report = check(DATA / "three_formats.jsonl")
    assert (report.verdict, report.format, report.usable, report.after_fix.usable) == (
        "ok-with-warnings", "mixed", 2, 4,
    )  # fmt: skip
    assert rows_of(report)["row_other_format"] == (2, 3)


@pytest.mark.parametrize(
    ("name", "code", "rows", "after_fix"),
    [
        ("cut_download.jsonl", "json_cut", 3, 2),
        ("login_page.jsonl", "file_is_page", 0, 0),
        ("semicolon.csv", "csv_delimiter", 2, 2),
        ("ragged.csv", "csv_long", 4, 3),
        ("chinese_gbk.csv", "not_utf8", 2, 2),
        ("numbers.csv", "cells_number", 2, 2),
        ("preference.jsonl", "preference_set", 2, 0),
    ],
)
def test_a_file_ms_swift_would_stop_at_is_blocked(name: str, code: str, rows: int, after_fix: int) -> None:
    report = check(DATA / name)
    assert report.verdict == "blocked"
    assert report.findings[0].code == code
    assert (report.rows, report.usable, report.after_fix.usable) == (rows, 0, after_fix)


def test_a_file_without_one_usable_row_is_blocked(tmp_path: Path) -> None:
    report = check(jsonl(tmp_path, [{"messages": []}, {"messages": None}]))
    assert report.verdict == "blocked"
    assert report.findings[0].code == "nothing_usable"


def test_a_header_without_rows_is_blocked(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("question,answer\n")
    assert [finding.code for finding in check(tmp_path / "a.csv").findings] == ["no_rows"]


def test_answers_that_are_all_dates_are_blocked_in_json_but_not_in_csv(tmp_path: Path) -> None:
    rows = [{"query": "When?", "response": "2024-05-01"}, {"query": "And?", "response": "2024-05-02 10:30:00"}]
    assert check(jsonl(tmp_path, rows)).findings[0].code == "cells_date"
    (tmp_path / "a.csv").write_text("query,response\nWhen?,2024-05-01\n")
    assert check(tmp_path / "a.csv").verdict == "ok"


def test_one_extra_key_among_a_thousand_rows_is_accepted(tmp_path: Path) -> None:
    rows = [chat(("user", f"q{number}"), ("assistant", "a")) for number in range(999)] + [{**GOOD, "note": "x"}]
    assert (report := check(jsonl(tmp_path, rows))).verdict == "ok"
    assert report.usable == 1_000


LONG = "x" * 1_000


@pytest.mark.parametrize(
    ("early", "late", "code"),
    [
        ({"query": LONG, "response": "a"}, {"query": "q", "response": "a", "new": 1}, "late_column"),
        (chat(("user", LONG), ("assistant", "a")),
         {"messages": [{"role": "user", "content": "q", "name": "n"}, {"role": "assistant", "content": "a"}]},
         "late_key"),
        ({"query": LONG, "response": "a", "id": 1}, {"query": "q", "response": "a", "id": "A1"}, "late_type"),
        ({"query": LONG, "response": "a", "system": None}, {"query": "q", "response": "a", "system": "s"}, "late_type"),
        ({"query": LONG, "response": "a", "id": "A1"}, {"query": "q", "response": "a"}, None),
        ({"query": LONG, "response": "a", "id": "A1"}, {"query": "q", "response": "a", "id": 5}, None),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_the_first_ten_megabytes_is_named(
    tmp_path: Path, early: Any, late: Any, code: str | None
) -> None:
    report = check(jsonl(tmp_path, [early] * 11_000 + [late]))
    blocked = {finding.code: finding.rows for finding in report.findings if finding.level == "blocked"}
    assert blocked == ({code: (11_001,)} if code else {})


def test_a_csv_column_that_stops_being_a_number_is_named(tmp_path: Path) -> None:
    lines = ["question,answer,id"] + [f"q{number},a,{number}" for number in range(10_500)] + ["q,a,B7"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    report = check(tmp_path / "a.csv")
    assert rows_of(report) == {"late_type": (10_501,)}


def test_columns_that_a_setting_mends_are_carried_in_the_settings(tmp_path: Path) -> None:
    report = check(jsonl(tmp_path, [{"Messages": GOOD["messages"]}]))
    assert (report.verdict, report.usable) == ("ok", 1)
    assert report.settings == {"columns": {"Messages": "messages"}}
    assert columns_argument(report) == {"Messages": "messages"}
    assert columns_argument(check(DATA / "chat_good.jsonl")) is None


def test_lines_of_text_are_for_pretraining(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\n   \ntwo\n")
    report = check(tmp_path / "a.txt", task="pt")
    assert (report.verdict, report.format, report.rows, report.usable) == ("ok-with-warnings", "text", 4, 2)
    assert rows_of(report) == {"row_blank_text": (2, 3)}
    assert check(tmp_path / "a.txt").verdict == "blocked"


def test_a_row_whose_rejected_answer_is_missing_is_lost_even_without_dpo(tmp_path: Path) -> None:
    rows = [{**GOOD, "rejected_response": "b"}, {**GOOD, "rejected_response": "a"}, GOOD]
    report = check(jsonl(tmp_path, rows))
    assert rows_of(report) == {"row_rejected_same": (2,), "row_rejected_missing": (3,)}


def test_markup_in_a_file_comes_out_as_the_plain_text_it_is() -> None:
    turns = check(DATA / "chat_odd.jsonl").preview[9].turns
    assert turns[0].content == "<b>Bold?</b><script>alert(1)</script>"


def test_a_preview_is_short_whatever_the_file_holds(tmp_path: Path) -> None:
    report = check(jsonl(tmp_path, [chat(("user", "q"), ("assistant", "y" * 100_000))] * 50))
    assert len(report.preview) == 20
    assert len(report.preview[0].turns[1].content) < 5_000


def test_a_finding_lists_the_first_rows_and_counts_them_all(tmp_path: Path) -> None:
    (finding,) = check(jsonl(tmp_path, [GOOD] + [chat(("user", "q"))] * 70)).findings
    assert (finding.count, len(finding.rows)) == (70, 20)
    assert str(finding.gaps()["rows"]).endswith(" …")


def test_a_check_can_be_limited_and_stopped(tmp_path: Path) -> None:
    path = jsonl(tmp_path, [GOOD] * 5_000)
    limited = check(path, limit=10)
    assert (limited.complete, limited.rows) == (False, 10)
    stopped = check(path, stop=lambda: True)
    assert not stopped.complete
    assert stopped.rows < 1_000
    assert any(finding.code == "partial" for finding in stopped.findings)


def test_progress_ends_at_one(tmp_path: Path) -> None:
    seen: list[float] = []
    check(jsonl(tmp_path, [GOOD] * 5_000), progress=seen.append)
    assert seen[-1] == 1.0


def test_a_report_is_json() -> None:
    for path in DATA.iterdir():
        if path.suffix in (".jsonl", ".csv", ".json"):
            value = json.loads(json.dumps(check(path).as_json()))
            assert value["verdict"] in ("ok", "ok-with-warnings", "blocked")


def test_every_finding_has_its_sentence_in_both_languages_and_all_its_values() -> None:
    codes = {key.removeprefix("finding.") for key in WORDS if key.startswith("finding.")}
    assert codes >= BLOCKED | INFO | LOST
    for path in sorted(DATA.iterdir()):
        if path.suffix in (".jsonl", ".csv", ".json"):
            for finding in check(path).findings:
                assert finding.code in codes
                assert all(say(f"dataset.finding.{finding.code}", lang, **finding.gaps()) for lang in LANGUAGES)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b""), ("a", b"x"), ("a.tsv", b"query\tresponse\na\tb\n"), ("a.jsonl", b"version https://git-lfs.x\n"),
        ("a.csv", b"PK\x03\x04"), ("a.csv", b"q,a\n\xff\xff,1\n"), ("a.parquet", b"x"), ("a.json", b" [{}]"),
        ("a.jsonl", b"{\n"), ("a.jsonl", b"1\n"), ("a.csv", b"q,a\nx,1,2\n"), ("a.csv", b'q,a\n"x,1\n'),
        ("a.csv", b"a,b\n1,2\n"), ("a.csv", b"query,Query,response\n1,2,3\n"), ("a.csv", b"answer,text\nx,y\n"),
        ("a.csv", b"title,content\nx,y\n"), ("a.csv", b"question\nx\n"), ("a.json", b'{"data": [{"a": 1}]}'),
        ("a.csv", b"question,answer\nx,True\n"), ("a.jsonl", b'{"query": "q", "response": "2024-01-01"}\n'),
        ("a.csv", "提问,回复\na,b\n".encode()), ("a.csv", b"question,answer,text\na,b,c\n"),
        ("a.csv", b"prompt,completion,label\na,b,True\n"), ("a.jsonl", b'{"query": "q", "response": ""}\n'),
        ("a.jsonl", b'{"messages": [{"role": "user", "content": "q"}], "tools": " ", "images": ["x"]}\n'),
        ("a.jsonl", b'{"messages": [{"role": "user", "content": "q"}], "tools": [1], "images": ["x"]}\n'),
        ("a.jsonl", b'{"instruction": null, "input": null, "output": "x"}\n'),
    ],
)  # fmt: skip
def test_whatever_a_file_holds_its_findings_can_be_said(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    report = check(tmp_path / name)
    assert report.findings
    for finding in report.findings:
        for lang in LANGUAGES:
            assert say(f"dataset.finding.{finding.code}", lang, **finding.gaps())


def test_checking_loads_nothing_heavy() -> None:
    heavy = {"torch", "transformers", "swift", "pandas"}
    before = heavy & sys.modules.keys()
    check(DATA / "chat_good.jsonl")
    assert heavy & sys.modules.keys() == before
