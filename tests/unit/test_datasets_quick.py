"""The short way through a sound row says what the long way says."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from services.datasets import tally
from services.datasets.check import Checked, inspect
from services.datasets.quick import plain_parts

TEXTS: list[Any] = ["plain", "", "  ", "Ã©", "é 中文", "a <|im_end|> b", "1 < 2", None]
"""No numbers: in a column that holds some, every row goes the long way."""
ROLES = ["user", "assistant", "system", "human", "tool", "User", None]


def both_ways(path: Path, monkeypatch: pytest.MonkeyPatch, task: str) -> tuple[Checked, Checked]:
    taken: list[bool] = []

    def watched(row: Any, form: Any) -> Any:
        parts = plain_parts(row, form)
        taken.append(parts is not None)
        return parts

    with monkeypatch.context() as patched:
        patched.setattr(tally, "plain_parts", watched)
        quick = inspect(path, task=task)
        assert any(taken) and not all(taken)
        patched.setattr(tally, "plain_parts", lambda row, form: None)
        return quick, inspect(path, task=task)


def rows() -> dict[str, tuple[str, list[dict[str, Any]]]]:
    pairs = list(product(TEXTS, TEXTS))
    turns = [
        {"messages": [{"role": a, "content": "q"}, {"role": b, "content": text}, {"role": c, "content": "z"}]}
        for a, b, c in product(ROLES, repeat=3)
        for text in ("plain", "Ã©")
    ]
    sharegpt = [
        {"conversations": [{"from": a, "value": q}, {"from": "gpt", "value": r}]}
        for a, (q, r) in product(ROLES, pairs)
    ]
    sound = {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}
    marks = (True, False, 1, -1, None)
    return {
        "messages": ("sft", [sound, *turns]),
        "sharegpt": ("sft", sharegpt),
        "pairs": ("sft", [{"query": q, "response": r, "system": s} for (q, r), s in product(pairs, TEXTS)]),
        "alpaca": ("sft", [{"instruction": q, "input": m, "output": r} for (q, r), m in product(pairs, TEXTS)]),
        "preferences": ("dpo", [{"query": "q", "response": r, "rejected_response": w} for r, w in pairs]),
        "thumbs": ("kto", [{"query": "q", "response": r, "label": w} for r, w in product(TEXTS, marks)]),
    }


@pytest.mark.parametrize("name", rows())
def test_both_ways_agree_on_every_row(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task, made = rows()[name]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    quick, long = both_ways(path, monkeypatch, task)
    assert quick.counts.hashes == long.counts.hashes
    assert quick.counts.lost == long.counts.lost
    assert quick.counts.labels == long.counts.labels
    assert quick.report.findings == long.report.findings
    assert 0 < quick.report.rows == len(made)
