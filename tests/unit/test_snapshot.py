"""What a screen sees of a run, read from its folder."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from services.runs import process, snapshot
from services.runs.folder import Record, RunFolder, RunState
from services.runs.snapshot import RunReader, joined
from services.swift import log
from services.swift.log import Metric


def write(run: RunFolder, **values: object) -> None:
    defaults: dict[str, object] = {"state": RunState.RUNNING, "keeper": process.me(), "started": time.time()}
    given = {"output_dir": str(run.path / "output"), **defaults, **values}
    run.write(Record(id=run.id, name="x", kind="train", **given))  # type: ignore[arg-type]


def points(folder: Path, steps: range, total: int = 10, loss: float = 1.0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "logging.jsonl").open("a") as file:
        for step in steps:
            file.write(json.dumps({"loss": loss, "global_step/max_steps": f"{step}/{total}"}) + "\n")


def output_line(folder: Path) -> str:
    return f"[INFO:swift] output_dir: {folder}\n"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "run 家")
    run.attempt(1).mkdir(parents=True)
    write(run)
    return run


def test_a_run_that_has_printed_nothing_has_an_empty_snapshot(run: RunFolder) -> None:
    write(run, state=RunState.QUEUED, started=None, total_steps=25)
    found = RunReader(run).read()
    assert (found.step, found.total_steps, found.metrics, found.log_tail) == (None, 25, (), "")
    assert (found.phase, found.fraction, found.eta_s, found.elapsed_s) == ("queued", None, None, None)


def test_progress_and_pace_come_from_the_newest_bar(run: RunFolder) -> None:
    output = run.path / "output" / "v0-1"
    points(output, range(1, 3))
    run.log(1).write_text(output_line(output) + "Train:  40%|██ | 4/10 [00:08<00:12,  2.00s/it]\n")
    found = RunReader(run).read()
    assert (found.step, found.total_steps, found.fraction, found.seconds_per_step) == (4, 10, 0.4, 2.0)
    assert found.eta_s == 12.0 and found.phase == "training"
    assert found.series("loss") == [(1, 1.0), (2, 1.0)]


def test_a_later_attempts_points_replace_the_earlier_ones(run: RunFolder) -> None:
    first, second = run.path / "output" / "v0-1", run.path / "output" / "v1-2"
    points(first, range(1, 8), loss=1.0)
    run.log(1).write_text(output_line(first))
    run.attempt(2).mkdir()
    write(run, attempt=2)
    reader = RunReader(run)
    assert len(reader.read().metrics) == 7  # the second attempt has not begun: the chart stays
    points(second, range(5, 7), loss=2.0)
    run.log(2).write_text(output_line(second) + "Train:  60%|██ | 6/10 [00:08<00:12,  2.00s/it]\n")
    found = reader.read()
    assert found.series("loss") == [(1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (5, 2.0), (6, 2.0)]
    assert found.step == 6


def test_an_attempt_without_points_leaves_the_others_alone() -> None:
    one = [Metric(1, "loss", 1.0), Metric(2, "loss", 1.0)]
    assert joined([one, []]) == joined([[], one]) == tuple(one)
    assert joined([]) == ()


def test_a_log_is_read_again_only_when_it_grew(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    run.log(1).write_text("one\n")
    reader = RunReader(run)
    assert reader.read().log_tail == "one\n"
    monkeypatch.setattr(log, "readable", lambda data: "read again")
    assert reader.read().log_tail == "one\n"
    with run.log(1).open("a") as file:
        file.write("two\n")
    assert reader.read().log_tail == "read again"


def test_of_a_large_log_the_end_is_shown_from_the_beginning_of_a_line(run: RunFolder) -> None:
    run.log(1).write_text("".join(f"line {number}\n" for number in range(100_000)))
    tail = RunReader(run).read().log_tail
    assert len(tail) <= snapshot.TAIL_BYTES and tail.startswith("line ") and tail.endswith("line 99999\n")


def test_a_run_that_succeeded_is_complete_and_a_lost_one_shows_what_it_had(run: RunFolder) -> None:
    output = run.path / "output" / "v0-1"
    points(output, range(1, 4))
    run.log(1).write_text(output_line(output) + "last words\n")
    write(run, state=RunState.SUCCEEDED)
    assert RunReader(run).read().fraction == 1.0
    write(run, keeper=process.Identity(1, 0.0))
    found = RunReader(run).read()
    assert (found.record.state, found.step, found.phase) == (RunState.LOST, 3, "lost")
    assert found.log_tail.endswith("last words\n") and found.memory_bytes is None


def test_the_seconds_left_to_save_count_down(run: RunFolder) -> None:
    write(run, state=RunState.STOPPING, stopping_since=time.time() - 10, grace_s=30.0)
    assert RunReader(run).read().stopping_left_s == pytest.approx(20, abs=1)
    write(run, state=RunState.STOPPING, stopping_since=time.time() - 100, grace_s=30.0)
    assert RunReader(run).read().stopping_left_s == 0


def test_memory_is_that_of_the_whole_tree(run: RunFolder) -> None:
    write(run, child=process.me())
    memory = RunReader(run).read().memory_bytes
    assert memory is None or memory >= 0  # this very process is never counted as its own run


def test_the_output_is_found_without_a_line_that_names_it(run: RunFolder) -> None:
    points(run.path / "output" / "v0-1", range(1, 3))
    run.log(1).write_text("x" * (1 << 19))
    assert len(RunReader(run).read().metrics) == 2
