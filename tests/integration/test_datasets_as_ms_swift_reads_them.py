"""What the check says of a file is what the installed ms-swift makes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from services.datasets.check import check
from services.datasets.report import Report, columns_argument

TURNS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
LONG = "x" * 1_000
FILES: dict[str, str | list[dict[str, Any]]] = {
    "messages.jsonl": [{"messages": TURNS, "extra": 1}, {"messages": None}, {"messages": []}],
    "sharegpt.jsonl": [{"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}],
                        "system": "s"}],
    "pairs.jsonl": [{"conversation": [{"human": "q", "assistant": "a"}]}],
    "capital.jsonl": [{"Messages": TURNS}],
    "alpaca.jsonl": [{"instruction": "i", "input": "j", "output": "o"},
                     {"instruction": "i", "input": "", "output": "o"}],
    "alpaca_capitals.csv": "Instruction,Input,Output\ni,j,o\nk,,p\n",
    "history.jsonl": [{"system": "s", "query": "q", "response": "a", "history": [["b", "c"]]}],
    "aliases.csv": "problem,completion\nq,a\n",
    "blank_in_header.csv": "question, answer\nq,a\n",
    "three_columns.jsonl": [{"question": "q", "answer": "a", "text": "t"}],
    "two_answers.jsonl": [{"problem": "q", "solution": "s", "answer": "a"}],
    "chinese.csv": "问题,回答\nq,a\n",
    "mixed.jsonl": [{"messages": TURNS}, {"query": "q", "response": "a"}],
    "roles.jsonl": [{"messages": TURNS}, {"messages": [{"role": "User", "content": "q"}]}],
    "nulls.jsonl": [{"messages": [{"role": "user", "content": None}]}, {"messages": TURNS}],
    "array.json": json.dumps([{"query": "q", "response": "a"}]),
    "excel.csv": "\ufeffquestion,answer\r\nq,\"a\r\nb\"\r\n",
    "dates.jsonl": [{"query": "q", "response": "2024-05-01"}],
    "late_column.jsonl": [{"query": LONG, "response": "a"}] * 11_000 + [{"query": "q", "response": "a", "new": 1}],
    "bom_array.json": "\ufeff[{\"query\": \"q\", \"response\": \"a\"}]",
    "ragged.csv": "question,answer\nq,a\nq,a,b\n",
    "cut.jsonl": '{"query": "q", "response": "a"}\n{"query": "q", "resp',
    "unknown.csv": "a,b\nq,a\n",
}  # fmt: skip
LOADS_BUT_TRAINS_NOTHING = {"dates.jsonl"}


def written(folder: Path, name: str) -> Path:
    content = FILES[name]
    if not isinstance(content, str):
        content = "".join(json.dumps(row) + "\n" for row in content)
    path = folder / name
    path.write_bytes(content.encode())
    return path


def read_by_ms_swift(reports: list[Report], cache: Path) -> list[Any]:
    asked = [[str(report.path), columns_argument(report)] for report in reports]
    child = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).with_name("read_as_ms_swift.py"))],
        input=json.dumps(asked), env={**os.environ, "MODELSCOPE_CACHE": str(cache), "HF_HUB_OFFLINE": "1"},
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    return list(json.loads(child.stdout.splitlines()[-1]))


def test_the_conversations_in_the_preview_are_those_ms_swift_trains_on(tmp_path: Path) -> None:
    reports = [check(written(tmp_path, name)) for name in FILES]
    answers = read_by_ms_swift(reports, tmp_path / "cache")
    for report, answer in zip(reports, answers, strict=True):
        name = report.path.name
        if report.verdict == "blocked":
            assert not answer or name in LOADS_BUT_TRAINS_NOTHING, name
        else:
            shown = [
                [[turn.role, turn.content] for turn in preview.turns]
                for preview in report.preview
                if not preview.codes
            ]
            assert shown == answer, name
