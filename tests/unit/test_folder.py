"""A run's folder: what is written there is what is read, whoever died in between."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from services.plan import Plan, Slot
from services.runs import folder as folders
from services.runs import process
from services.runs.folder import Record, RunFolder, RunState, list_runs, new_id

DEAD = replace(process.me(), started=process.me().started - 1000)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    run = RunFolder(tmp_path / "20260101-000000-家 x")
    run.attempt(1).mkdir(parents=True)
    return run


def record(**values: object) -> Record:
    return replace(Record(id="r", name="x", kind="train", queued=time.time()), **values)  # type: ignore[arg-type]


def test_a_record_comes_back_as_it_was_written(run: RunFolder) -> None:
    written = record(
        state=RunState.FAILED, keeper=DEAD, child=DEAD, devices=("0", "1"), error={"code": "exited", "values": {}},
        about={"model": "家"}, stopping_since=1.5,
    )  # fmt: skip
    run.write(written)
    assert run.read() == written
    assert orjson.loads(run.state.read_bytes())["state"] == "failed"


def test_a_record_of_a_later_version_can_be_read(run: RunFolder) -> None:
    run.write(record(state=RunState.STOPPED))
    value = orjson.loads(run.state.read_bytes())
    run.state.write_bytes(orjson.dumps(value | {"invented_later": 1}))
    assert run.read().state is RunState.STOPPED


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"id": "r"}', '{"state": "flying"}', '{"state": "failed"}'])
def test_a_damaged_record_is_a_value_error(run: RunFolder, text: str) -> None:
    run.state.write_text(text)
    with pytest.raises(ValueError):
        run.read()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (record(state=RunState.RUNNING, keeper=DEAD), RunState.LOST),
        (record(state=RunState.QUEUED, keeper=DEAD), RunState.LOST),
        (record(state=RunState.RUNNING, keeper=process.me()), RunState.RUNNING),
        (record(state=RunState.SUCCEEDED, keeper=DEAD), RunState.SUCCEEDED),
        (record(state=RunState.QUEUED), RunState.QUEUED),
        (record(state=RunState.QUEUED, queued=time.time() - 120), RunState.LOST),
    ],
)
def test_a_run_without_a_keeper_and_without_a_verdict_is_lost(run: RunFolder, written: Record, read: RunState) -> None:
    run.write(written)
    assert run.read().state is read


def test_a_keeper_that_ends_while_it_is_looked_for_is_not_a_lost_run(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.write(record(state=RunState.RUNNING, keeper=process.me()))

    def give_the_verdict_and_end(self: process.Identity) -> bool:
        run.write(record(state=RunState.SUCCEEDED))
        return False

    monkeypatch.setattr(process.Identity, "alive", give_the_verdict_and_end)
    assert run.read().state is RunState.SUCCEEDED


def test_a_reader_never_sees_half_a_record(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write(record(state=RunState.STOPPED))

    def fail_in_the_middle(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail_in_the_middle)
    with pytest.raises(OSError):
        run.write(record(state=RunState.FAILED))
    assert run.read().state is RunState.STOPPED


def test_a_plan_comes_back_with_its_slots(run: RunFolder) -> None:
    plan = Plan("train", ("a", Slot("{run}/x"), "{run}"), {"A": "b"})
    run.write_plan(1, plan)
    assert run.read_plan(1) == plan and isinstance(run.read_plan(1).argv[1], Slot)
    run.plan(1).write_text('{"kind": "train"}')
    with pytest.raises(ValueError):
        run.read_plan(1)
    with pytest.raises(OSError):
        run.read_plan(2)


def test_only_folders_with_a_record_are_runs(run: RunFolder) -> None:
    root = run.path.parent
    assert list_runs(root) == [] == list_runs(root / "none")
    run.write(record())
    (root / "foreign").mkdir()
    (root / ".20260101-half.new").mkdir()
    (root / ".20260101-half.new" / "state.json").write_text("{}")
    assert list_runs(root) == [run]


@pytest.mark.parametrize(
    "name", ["a b", "../../etc", "家", "", "..", "a/b", "'; rm", "x" * 300, "家" * 300, "new\nline", "-"]
)
def test_an_id_is_one_folder_name_whatever_the_run_is_called(tmp_path: Path, name: str) -> None:
    found = new_id(tmp_path, name)
    assert (tmp_path / found).parent == tmp_path and found.isprintable() and len(found.encode()) < 200
    (tmp_path / found).mkdir()
    assert new_id(tmp_path, name) != found


def test_a_deleted_run_is_gone_with_all_it_held(run: RunFolder) -> None:
    run.write(record())
    (run.path / "big").write_bytes(b"x" * 1000)
    (run.path / "link").symlink_to("/")
    assert 1000 < run.size_bytes() < 10_000
    folders.remove(run)
    assert list(run.path.parent.iterdir()) == []
