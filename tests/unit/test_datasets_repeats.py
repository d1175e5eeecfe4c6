"""All rows compared with each other and with validation data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from services.datasets import repeats
from services.datasets.duplicates import near, signature, similar
from services.datasets.repeats import Job, compare, read_repeats
from services.text import LANGUAGES, say

SUBJECTS = ["the old bridge over the river", "a letter that never came", "violins in the rain", "how rice is grown",
            "the tide before dawn", "wool and its colours", "stone walls of the north"]  # fmt: skip


def text(number: int) -> str:
    """Texts that share no sentence."""
    words = [SUBJECTS[(number * step) % 7] + f" {number * 7919 * step}" for step in (1, 2, 3, 5)]
    return ", ".join(words) + "."


def written(path: Path, texts: list[str]) -> Path:
    rows: list[dict[str, Any]] = [{"query": f"Tell me of number {one[:40]}", "response": one} for one in texts]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_rows_nearly_the_same_are_found_wherever_they_stand_and_equal_ones_are_not_meant(tmp_path: Path) -> None:
    texts = [text(number) for number in range(3_000)]
    texts[2_900] = texts[17].replace("river", "canal") + "!"
    texts[2_950] = texts[40]
    found = compare(Job(str(written(tmp_path / "a.jsonl", texts)), "sft", rows=3_000))
    assert (found.compared, found.similar, found.pairs) == (3_000, 1, ((2_901, 18),))


def test_validation_rows_are_found_among_the_training_rows(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", [text(number) for number in range(50)])
    held = written(tmp_path / "held.jsonl", [text(900), text(12), text(30) + " Indeed."])
    found = compare(Job(str(path), "sft", held=[str(held)], rows=50))
    assert (found.similar, found.leaked) == (0, 2)
    assert found.leaks == (("held.jsonl", 2, 13), ("held.jsonl", 3, 31))
    codes = {one.code: one for one in found.findings("a.jsonl")}
    assert set(codes) == {"rows_leak_near"}
    assert "held.jsonl 2 ≈ a.jsonl 13" in say("dataset.finding.rows_leak_near", "en", **codes["rows_leak_near"].gaps())


def test_of_very_many_rows_some_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST_ROWS", 10)
    path = written(tmp_path / "a.jsonl", [text(0)] * 100)
    assert compare(Job(str(path), "sft", rows=100)).compared == 10


def test_rows_that_are_no_conversation_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"messages": []}\n{"messages": [{"role": "user", "content": ""}]}\n{broken\n')
    assert compare(Job(str(path), "sft")).compared == 0


@pytest.mark.parametrize("edits", [0, 1, 4, 40])
def test_signatures_agree_with_the_exact_comparison(edits: int) -> None:
    words = text(5).split()
    other = [*words[: len(words) - edits], *(f"word{place}" for place in range(edits))]
    pair = [text(5), " ".join(other)]
    found = near(numpy.stack([signature(one) for one in pair]))
    assert found == ([(1, 0)] if similar([(1, pair[0]), (2, pair[1])]) else [])


def test_the_child_says_what_it_found_in_both_languages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "a.jsonl", [text(1), text(1) + " Indeed.", text(2)])
    (tmp_path / "job.json").write_text(json.dumps({"path": str(path), "task": "sft"}))
    repeats.main([str(tmp_path / "job.json"), str(tmp_path / "out.json")])
    found = read_repeats(tmp_path / "out.json")
    assert found.pairs == ((2, 1),)
    said = capsys.readouterr().out
    for lang in LANGUAGES:
        assert say("dataset.finding.rows_similar", lang, **found.findings("a.jsonl")[0].gaps()) in said
