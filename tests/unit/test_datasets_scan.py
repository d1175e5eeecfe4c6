"""A large file read by several processes says what one process says, and can be ended at any time."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from services.datasets import scan as scans
from services.datasets.check import check, inspect, look
from services.datasets.report import Report
from services.datasets.thinned import KEPT, Thinned
from services.errors import Failed

TURNS = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


def row(number: int, **more: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": f"q{number}"}, {"role": "assistant", "content": f"a{number}"}]
    return {"messages": turns, **more}


def odd_file(tmp_path: Path) -> Path:
    """Faults in every part, empty lines, a repeat across the parts, and a cut end without a line end."""
    rows = [json.dumps(row(number)) for number in range(4_000)]
    rows[10] = json.dumps({"messages": None})
    rows[2_500] = ""
    rows[2_600] = "{broken"
    rows[3_900] = json.dumps(row(5))
    path = tmp_path / "odd 数据.jsonl"
    path.write_text("\n".join(rows) + '\n{"messages": [{"ro', encoding="utf-8")
    return path


@pytest.fixture
def in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scans, "ALONE_BYTES", 0)
    monkeypatch.setattr(scans.process, "cores", lambda: 3)


def without_times(report: Report) -> dict[str, Any]:
    return {key: value for key, value in report.as_json().items() if key != "stages"}


def test_several_processes_find_what_one_finds(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    path = odd_file(tmp_path)
    alone = inspect(path)
    request.getfixturevalue("in_children")
    together = inspect(path)
    assert without_times(together.report) == without_times(alone.report)
    assert together.counts.hashes == alone.counts.hashes and together.counts.lost == alone.counts.lost
    found = {finding.code: (finding.rows, finding.lines) for finding in together.report.findings}
    assert found["row_no_turns"] == ((11,), ())
    assert found["json_broken"] == ((2_600,), (2_601,))
    assert found["json_cut"] == ((4_000,), (4_001,))
    assert found["rows_repeated"] == ((3_900,), ())


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_every_row_is_read_once_wherever_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row(number, pad="x" * (number % 13))) + "\n" for number in range(200)))
    monkeypatch.setattr(scans.process, "cores", lambda: parts)
    seen = look(path)
    counts = None
    for job in scans._parts(seen, "sft"):
        part = scans.read_part(job, lambda done: None)
        counts = part if counts is None else (counts.append(part), counts)[1]
    assert counts is not None and (counts.rows, counts.usable) == (200, 200)
    assert len(set(counts.hashes)) == 200
    assert [number for number, _ in counts.sample.chosen()] == list(range(1, 201))


def test_other_files_are_read_by_one_child(tmp_path: Path, in_children: None) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,answer\n" + "".join(f"q{n},a{n}\n" for n in range(50)) + "q3,a3\n")
    heard: list[float] = []
    report = check(path, progress=heard.append)
    assert (report.rows, report.usable, heard[-1]) == (51, 51, 1.0)


def test_a_stopped_check_ends_its_processes_at_once(tmp_path: Path, in_children: None) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text((json.dumps(row(1)) + "\n") * 400_000)
    began = time.monotonic()
    report = check(path, stop=lambda: time.monotonic() - began > 0.3)
    assert time.monotonic() - began < 1.5
    assert not report.complete and report.preview
    assert not [one for one in psutil.Process().children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]


def test_a_child_that_dies_is_told_and_not_taken_for_an_end(
    tmp_path: Path, in_children: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row(1)) + "\n")
    monkeypatch.setattr(scans.process, "python", lambda: "/bin/false")
    with pytest.raises(Failed) as failed:
        check(path)
    assert failed.value.code == "check_failed"


def test_the_sample_is_spread_over_the_whole_file() -> None:
    first, second = Thinned(), Thinned()
    for number in range(1, 50_001):
        first.offer(number, {"n": number})
    for number in range(1, 10_001):
        second.offer(number, {"n": number})
    first.append(second, 50_000)
    rows = [number for number, _ in first.chosen()]
    assert len(rows) == KEPT and rows == sorted(set(rows))
    assert rows[0] == 1 and rows[-1] > 59_000
    assert max(b - a for a, b in pairwise(rows)) < 100
