"""Runs: made, found, named, resumed, deleted. No keeper is started here."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.errors import Failed, Refused
from services.plan import Plan, Slot
from services.runs import folder as folders
from services.runs import process
from services.runs.folder import Record, RunFolder, RunState
from services.runs.keeper import Keeper
from services.runs.lifecycle import Runs
from services.text import explain

PLAN = Plan("train", ("python", Slot("{run}/x")), total_steps=9)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The keepers that would have been started."""
    argvs: list[list[str]] = []
    monkeypatch.setattr(process, "spawn_free", lambda argv, **_: argvs.append(list(argv)))
    return argvs


@pytest.fixture
def runs(home: Path, started: list[list[str]]) -> Runs:
    return Runs(home / "runs")


def start(runs: Runs, name: str = "robot", **values: Any) -> Record:
    return runs.start(PLAN, name=name, spec="model: starter\n", **values)


def end(runs: Runs, record: Record, state: RunState = RunState.SUCCEEDED, **values: Any) -> None:
    runs.folder(record.id).write(replace(record, state=state, **values))


def test_a_start_makes_a_whole_folder_and_one_keeper(runs: Runs, started: list[list[str]]) -> None:
    record = start(runs, about={"model": "m"})
    folder = runs.folder(record.id)
    assert folder.read() == record and record.state is RunState.QUEUED
    assert (folder.read_plan(1), folder.spec.read_text()) == (PLAN, "model: starter\n")
    assert record.output_dir == str(folder.path / "output") and record.total_steps == 9
    assert started == [[process.python(), "-P", "-m", "services.runs.keeper", str(folder.path)]]
    assert {path.name for path in runs.root.iterdir()} == {record.id, ".lock"}


def test_one_request_is_one_run(runs: Runs, started: list[list[str]]) -> None:
    first = start(runs, request_id="a")
    again = Runs(runs.root).start(PLAN, name="other", spec="", request_id="a")
    assert again == first and len(started) == 1
    assert start(runs, request_id="b").id != start(runs).id != start(runs).id


def test_a_name_that_is_taken_gets_a_number(runs: Runs) -> None:
    assert [start(runs).name for _ in range(3)] == ["robot", "robot-2", "robot-3"]
    assert start(runs, "robot-2").name == "robot-2-2"
    assert len({record.id for record in runs.list()}) == 4


def test_runs_are_found_by_id_beginning_name_and_last(runs: Runs) -> None:
    first, second = start(runs, "alpha"), start(runs, "beta 家")
    assert runs.find(first.id) == first and runs.find("beta 家") == second == runs.find("last")
    assert runs.find(second.id[:-1]) == second
    for text, code in [
        ("", "run_not_found"),
        ("gamma", "run_not_found"),
        ("2", "run_ambiguous"),
        ("../" + first.id, "run_not_found"),
    ]:
        with pytest.raises(Refused) as caught:
            runs.find(text)
        assert caught.value.code == code and explain(caught.value, "zh")


def test_the_newest_run_comes_first_also_within_a_second(runs: Runs) -> None:
    names = ["zulu", "alpha", "mike"]
    for name in names:
        start(runs, name)
    assert [record.name for record in runs.list()] == names[::-1]
    assert runs.find("last").name == "mike"


def test_no_runs_is_an_empty_list(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "none")
    assert runs.list() == []
    with pytest.raises(Refused, match="run_not_found"):
        runs.find("last")


def test_a_run_that_ended_is_read_once(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    end(runs, start(runs))
    assert runs.list()[0].state is RunState.SUCCEEDED
    monkeypatch.setattr(RunFolder, "read", lambda self: pytest.fail("read again"))
    assert runs.list()[0].state is RunState.SUCCEEDED


def test_a_damaged_run_hides_no_other(runs: Runs) -> None:
    good, bad = start(runs), start(runs)
    runs.folder(bad.id).state.write_text("{")
    assert runs.list() == [good]
    with pytest.raises(Refused, match="run_not_found"):
        runs.snapshot(bad.id)


@pytest.mark.parametrize("run_id", ["none", "", "../runs", "a/b", ".lock", ".hidden"])
def test_a_snapshot_of_what_is_no_run_is_refused(runs: Runs, run_id: str) -> None:
    with pytest.raises(Refused, match="run_not_found"):
        runs.snapshot(run_id)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "run_disk_full"),
        (errno.EDQUOT, "run_disk_full"),
        (errno.EACCES, "cannot_write"),
        (errno.EROFS, "cannot_write"),
    ],
)
def test_a_start_that_cannot_be_written_fails_with_a_sentence_and_leaves_nothing(
    runs: Runs, started: list[list[str]], monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(number, "no", str(path))

    monkeypatch.setattr(folders, "write_whole", refuse)
    with pytest.raises(Failed) as caught:
        start(runs)
    assert caught.value.code == code and str(runs.root) in explain(caught.value, "en")
    assert started == [] and [path.name for path in runs.root.iterdir()] == [".lock"]


def test_a_resume_is_a_new_attempt_of_the_same_run(runs: Runs, started: list[list[str]]) -> None:
    record = start(runs)
    runs.stop(record.id)
    end(runs, record, RunState.STOPPED, ended=1.0, error={"code": "x"}, exit_code=3, stopping_since=1.0)
    again = runs.resume(record.id, replace(PLAN, argv=("b",)))
    assert (again.id, again.attempt, again.state, again.error, again.exit_code) == (
        record.id,
        2,
        RunState.QUEUED,
        None,
        None,
    )
    folder = runs.folder(record.id)
    assert (folder.read_plan(1), folder.read_plan(2).argv) == (PLAN, ("b",))
    assert not folder.stop.exists() and len(started) == 2


def test_a_run_under_way_is_neither_resumed_nor_deleted(runs: Runs) -> None:
    record = start(runs)
    with pytest.raises(Refused, match="still_running"):
        runs.resume(record.id, PLAN)
    with pytest.raises(Refused, match="still_running"):
        runs.delete(record.id)


def test_a_stop_asks_and_a_second_one_may_ask_for_more(runs: Runs) -> None:
    record = start(runs)
    keeper = Keeper(runs.folder(record.id))
    assert keeper.stop_request() is None
    runs.stop(record.id)
    assert keeper.stop_request() is False
    runs.stop(record.id, now=True)
    assert keeper.stop_request() is True
    runs.folder(record.id).stop.write_text("{torn")
    assert keeper.stop_request() is False


def test_a_stop_of_a_run_that_ended_changes_nothing(runs: Runs) -> None:
    record = start(runs)
    end(runs, record)
    assert runs.stop(record.id).state is RunState.SUCCEEDED
    assert not runs.folder(record.id).stop.exists()


def test_a_deleted_run_frees_its_bytes(runs: Runs) -> None:
    record = start(runs)
    end(runs, record)
    runs.snapshot(record.id)
    assert runs.delete(record.id) > 100
    assert runs.list() == [] and [path.name for path in runs.root.iterdir()] == [".lock"]


def test_waiting_gives_up_in_time(runs: Runs) -> None:
    record = start(runs)
    began = time.monotonic()
    assert runs.wait(record.id, timeout_s=0.1, poll_s=0.02).state is RunState.QUEUED
    assert time.monotonic() - began < 2


# the keeper's part that needs no process


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def keeper_on_a_full_disk(runs: Runs, monkeypatch: pytest.MonkeyPatch, refusals: int) -> tuple[Keeper, list[float]]:
    keeper = Keeper(runs.folder(start(runs).id))
    write, left, slept = RunFolder.write, [refusals], []

    def refuse_at_first(self: RunFolder, record: Record) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, record)

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        keeper.clock = lambda: sum(slept)

    monkeypatch.setattr(RunFolder, "write", refuse_at_first)
    monkeypatch.setattr(RunFolder, "write_over", full_disk)
    keeper.clock, keeper.sleep = (lambda: 0.0), sleep
    return keeper, slept


def test_a_verdict_waits_for_a_full_disk_to_have_room(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, slept = keeper_on_a_full_disk(runs, monkeypatch, refusals=3)
    keeper.end(RunState.FAILED, exit_code=1)
    assert keeper.folder.read().state is RunState.FAILED and len(slept) == 3


def test_a_verdict_does_not_wait_for_ever(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, slept = keeper_on_a_full_disk(runs, monkeypatch, refusals=10_000)
    keeper.end(RunState.FAILED, exit_code=1)
    assert 600 <= sum(slept) < 700


def test_a_full_disk_at_the_start_of_the_command_is_a_failure_with_its_reason(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Keeper(runs.folder(start(runs).id))

    def refuse(self: RunFolder, number: int, plan: Plan) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "plan.json")

    monkeypatch.setattr(RunFolder, "write_plan", refuse)
    monkeypatch.setattr(process, "spawn", lambda *_, **__: pytest.fail("started all the same"))
    assert keeper.launch(PLAN, PLAN.argv) is None
    assert keeper.record.state is RunState.FAILED and keeper.record.error is not None
    assert keeper.record.error["code"] == "disk_full"


@pytest.mark.parametrize("action", ["stop", "wait", "delete", "record"])
def test_a_run_that_somebody_deleted_meanwhile_is_not_found(runs: Runs, action: str) -> None:
    record = start(runs)
    folders.remove(runs.folder(record.id))
    with pytest.raises(Refused) as caught:
        getattr(runs, action)(record.id)
    assert caught.value.code == "run_not_found"


def test_a_full_disk_keeps_nobody_from_stopping(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    record = start(runs)
    monkeypatch.setattr(folders, "write_whole", full_disk)
    runs.stop(record.id)
    assert Keeper(runs.folder(record.id)).stop_request() is False


def test_a_verdict_is_kept_on_a_full_disk(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    record = start(runs)
    monkeypatch.setattr(folders, "write_whole", full_disk)
    Keeper(runs.folder(record.id)).end(RunState.STOPPED)
    assert runs.record(record.id).state is RunState.STOPPED


# what a merge made


def merge(runs: Runs, output: Path, **values: Any) -> Record:
    output.mkdir(parents=True, exist_ok=True)
    (output / "model.safetensors").write_bytes(b"x" * 100_000)
    record = runs.start(replace(PLAN, kind="merge", output_dir=str(output)), name="merged", spec="")
    end(runs, record, **values)
    return runs.record(record.id)


def test_a_deleted_merge_takes_its_model_along_and_counts_it(runs: Runs) -> None:
    output = runs.root.parent / "models" / "robot-merged"
    record = merge(runs, output)
    assert runs.size_bytes(record) > 100_000 and runs.kept(record) == ""
    assert runs.delete(record.id) > 100_000
    assert not output.exists() and list(output.parent.iterdir()) == []


def test_a_model_that_lies_elsewhere_stays_and_that_is_told(runs: Runs, tmp_path: Path) -> None:
    record = merge(runs, tmp_path / "mine")
    assert runs.kept(record) == str(tmp_path / "mine") and runs.size_bytes(record) < 100_000
    runs.delete(record.id)
    assert (tmp_path / "mine" / "model.safetensors").exists()


@pytest.mark.parametrize("other", ["made there too", "trained on it"])
def test_a_model_that_another_run_needs_stays(runs: Runs, other: str) -> None:
    output = runs.root.parent / "models" / "robot-merged"
    record = merge(runs, output)
    if other == "trained on it":
        start(runs, about={"base": str(output)})
    else:
        merge(runs, output)
    assert runs.kept(record) == str(output)
    runs.delete(record.id)
    assert (output / "model.safetensors").exists()


def test_the_time_of_all_attempts_is_added_up(runs: Runs) -> None:
    record = start(runs)
    end(runs, record, RunState.STOPPED, started=100.0, ended=160.0)
    assert runs.resume(record.id, PLAN).spent_s == 60
    end(runs, runs.record(record.id), RunState.STOPPED, started=1000.0, ended=1005.0)
    assert runs.snapshot(record.id).elapsed_s == 65
    assert runs.resume(record.id, PLAN).spent_s == 65


def test_the_time_of_a_lost_run_ends_with_its_last_word(runs: Runs) -> None:
    record = start(runs)
    log = runs.folder(record.id).log(1)
    log.write_text("step\n")
    os.utime(log, (500, 500))
    end(runs, record, RunState.LOST, started=100.0)
    assert runs.snapshot(record.id).elapsed_s == 400


def test_a_run_in_the_queue_knows_what_it_waits_for(runs: Runs) -> None:
    names = ("holds", "failed", "before", "waits", "behind")
    found = {name: start(runs, name) for name in names}
    for name, record in found.items():
        state = {"holds": RunState.RUNNING, "failed": RunState.FAILED}.get(name, RunState.QUEUED)
        end(runs, record, state, keeper=process.me())
    assert [record.name for record in runs.waits_for(runs.record(found["waits"].id))] == ["holds", "before"]
