"""What a check foresees of a mended copy is what the copy turns out to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import yaml

from services.datasets.check import check
from services.datasets.formats import Task
from services.datasets.mend import mend
from services.datasets.report import OPTIONAL, Report
from services.errors import Refused

FOLDER = Path(__file__).parents[1] / "data" / "check"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def chat(*texts: Any, first: str = "user") -> dict[str, Any]:
    """A conversation of these texts by turns."""
    roles = ["user", "assistant"] if first == "user" else ["assistant", "user"]
    return {"messages": [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]}


def named(*roles: str) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": f"text of {role}"} for role in roles]}


GOOD = [chat(f"What is {place}?", f"It is the number {place}.") for place in range(4)]
LABELS = [{"query": f"q{n}", "response": f"r{n}"} for n in range(6)]
PAIR = [{"prompt": f"q{n}", "chosen": f"good {n}", "rejected": f"bad {n}"} for n in range(3)]
BOTH = [chat(f"q{n}", f"good {n}")["messages"] for n in range(3)]
WORSE = [chat(f"q{n}", f"bad {n}")["messages"] for n in range(3)]
TOOLS = json.dumps([{"type": "function", "function": {"name": "f", "parameters": {}}}])
GARBLED = [
    chat("o\u00c3\u00b9 est le caf\u00c3\u00a9 ?", "l\u00c3\u00a0, \u00e2\u20ac\u0153ici\u00e2\u20ac\u009d 中"),
    chat("caf\u00c3\u00a9", "oui"),
]

CASES: dict[str, tuple[Task, str, str, tuple[str, int]]] = {
    "roles in capitals": ("sft", "a.jsonl", lines(named("User", "Assistant"), named("Human", "GPT")), ("ok", 2)),
    "roles that are none": ("sft", "a.jsonl", lines(*GOOD, named("moderator", "assistant")), ("ok", 4)),
    "numbers as answers": ("sft", "a.jsonl", lines(*GOOD, chat("2+2?", 4)), ("ok", 5)),
    "numbers alone": ("sft", "a.jsonl", lines({"query": "2+2?", "response": 10**30}), ("ok", 1)),
    "a blank question stays": (
        "sft", "a.jsonl", lines(*GOOD, chat("", "yes"), chat("q", " ")), ("ok-with-warnings", 5)
    ),
    "repeated rows stay": ("sft", "a.jsonl", lines(*GOOD, *GOOD), ("ok-with-warnings", 8)),
    "only answers": ("sft", "a.jsonl", lines(chat("hello"), chat("Hi.", first="assistant")), ("ok-with-warnings", 1)),
    "no answer at all": ("sft", "a.jsonl", lines(chat("q"), chat("p")), ("blocked", 0)),
    "answers first": ("sft", "a.jsonl", lines(*GOOD, chat("Hi.", "q", "a", first="assistant")), ("ok", 5)),
    "two formats": ("sft", "a.jsonl", lines(*GOOD, {"query": "q", "response": "r"}), ("ok", 5)),
    "two formats and a repeat": (
        "sft", "a.jsonl", lines(*GOOD, *[{"query": "q", "response": "r"}] * 2), ("ok-with-warnings", 6)
    ),
    "short and long lines": ("sft", "a.csv", "query,response\na,b\nc,d,e\nf\ng,h, i\n", ("ok", 2)),
    "a short line with its answer": ("sft", "a.csv", "query,response,note\na,b,c\nd,e\n", ("ok", 2)),
    "stray commas": ("sft", "a.csv", "query,response\na,b,\nc,d,\n", ("ok", 2)),
    "shifted columns": ("sft", "a.csv", "query,response\na,b,c\nd,e,f\n", ("blocked", 0)),
    "garbled text": ("sft", "a.jsonl", lines(*GARBLED), ("ok", 2)),
    "text that cannot be read again": ("sft", "a.jsonl", lines(*GOOD, chat("q", "a \ufffd b")), ("ok", 4)),
    "rows as Python prints them": (
        "sft", "a.jsonl", "".join(f"{row}\n" for row in GOOD) + "{'query': broken}\n", ("ok", 4)
    ),
    "no ending": ("sft", "data", lines(*GOOD), ("ok", 4)),
    "an ending with a sign": ("sft", "data.csv#2", "query,response\na,b\n", ("ok", 1)),
    "labels as words": (
        "kto", "a.jsonl", lines(*({**row, "label": word} for row, word in zip(LABELS, ["yes", "no"] * 3,
                                                                             strict=True))), ("ok", 6),
    ),
    "labels that say neither": (
        "kto", "a.jsonl", lines(*({**row, "label": word} for row, word in zip(LABELS, ["good", "bad", "meh"] * 2,
                                                                             strict=True))), ("ok", 4),
    ),
    "a label that is missing": (
        "kto", "a.jsonl", lines(*({**row, "label": None if n == 2 else bool(n % 2)} for n, row in enumerate(LABELS))),
        ("ok-with-warnings", 5),
    ),
    "equal pairs": ("dpo", "a.jsonl", lines(*PAIR, {"prompt": "q", "chosen": "a", "rejected": "a"}), ("ok", 3)),
    "pairs whose prompt stands apart": (
        "dpo", "a.jsonl",
        lines(*({"prompt": b[:1], "chosen": b[1:], "rejected": w[1:]} for b, w in zip(BOTH, WORSE, strict=True))),
        ("ok", 3),
    ),
    "pairs written as text": (
        "dpo", "a.jsonl",
        lines(*({"prompt": "q", "chosen": str(b), "rejected": str(w)} for b, w in zip(BOTH, WORSE, strict=True))),
        ("ok", 3),
    ),
    "the same words with other tools": (
        "sft", "a.jsonl", lines(*({**GOOD[0], "tools": tools} for tools in (TOOLS, "[]", " "))), ("ok", 2)
    ),
}  # fmt: skip


def comes_true(path: Path, report: Report, task: Task, folder: Path) -> None:
    fixes = {finding.fix for finding in report.findings if finding.fix is not None} - OPTIONAL
    foreseen = (report.after_fix.verdict, report.after_fix.usable)
    if not fixes:
        unchanged = "blocked" if not report.usable else report.verdict
        assert foreseen == (unchanged, report.usable)
        return
    try:
        made = mend(path, fixes, folder, task=task)
    except Refused as refused:
        assert refused.code == "mend_nothing_left" and foreseen == ("blocked", 0)
        return
    after = check(made.path, task=task, template="chatml")
    assert (after.verdict, after.usable) == foreseen


@pytest.mark.parametrize("name", EXPECTED)
def test_the_known_shapes_come_out_as_foreseen(name: str, tmp_path: Path) -> None:
    task = EXPECTED[name]["task"]
    comes_true(FOLDER / name, check(FOLDER / name, task=task, template="chatml"), task, tmp_path)


@pytest.mark.parametrize("case", CASES)
def test_what_is_mended_comes_out_as_foreseen(case: str, tmp_path: Path) -> None:
    task, name, text, wanted = CASES[case]
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    report = check(path, task=task, template="chatml")
    assert (report.after_fix.verdict, report.after_fix.usable) == wanted
    comes_true(path, report, task, tmp_path / "out")


def test_numbers_in_a_table_come_out_as_foreseen(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"query": ["a", "b"], "response": [1, 2]}), path)
    report = check(path)
    assert (report.verdict, report.after_fix.usable) == ("blocked", 2)
    comes_true(path, report, "sft", tmp_path / "out")


@pytest.mark.parametrize("side", [BOTH[0][1:], str(BOTH[0])])
def test_pairs_that_would_be_learnt_without_their_prompt_or_as_notation_are_blocked(side: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(lines({"prompt": "q", "chosen": side, "rejected": str(WORSE[0]) if isinstance(side, str) else
                           WORSE[0][1:]}))  # fmt: skip
    report = check(path, task="dpo")
    assert (report.verdict, report.usable, report.settings) == ("blocked", 0, {})
    finding = next(one for one in report.findings if one.code == "pairs_without_prompt")
    assert finding.fix == "to_preference"


def test_rows_that_differ_in_what_is_kept_beside_them_are_no_repeats(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    same = {"query": "q", "response": "a"}
    path.write_text(lines(*({**same, "rejected_response": word} for word in ("b", "c", "b"))))
    report = check(path, task="dpo")
    assert next(one for one in report.findings if one.code == "rows_repeated").rows == (3,)


def test_a_mended_copy_keeps_the_columns_that_rewards_need(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    asked = [{"role": "user", "content": "1+1"}]
    path.write_text(lines(*({"Messages": asked, "solution": str(1 + n)} for n in range(3))))
    for fix in ("rename_columns", "to_messages"):
        made = mend(path, [fix], tmp_path / fix, task="grpo")
        rows = [json.loads(line) for line in made.path.read_text().splitlines()]
        assert [row["solution"] for row in rows] == ["1", "2", "3"]


def test_a_table_with_thousands_of_columns_is_looked_at_in_no_time_and_told_in_a_short_sentence(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"c{n}" for n in range(5_000)]
    cells = ["q", "an answer", *["1"] * 5_000]
    path.write_text(",".join(["query", "response", *names]) + "\n" + ",".join(cells) + "\n")
    report = check(path)
    told = next(one for one in report.findings if one.code == "columns_unused")
    assert sum(stage.seconds for stage in report.stages) < 1
    assert str(told.values["columns"]).endswith("c29 … (+4,970)")
