"""Which server the chat talks to, read from the run folders alone."""

from __future__ import annotations

import time
from pathlib import Path

from services.chat import loaded
from services.runs import process
from services.runs.folder import Record, RunFolder, RunState
from services.runs.lifecycle import Runs


def server(root: Path, run_id: str, state: RunState, kind: str = "serve", **about: str) -> str:
    folder = RunFolder(root / run_id)
    folder.path.mkdir(parents=True)
    folder.write(
        Record(id=run_id, name=run_id, kind=kind, state=state, queued=time.time(), keeper=process.me(), about=about)
    )
    return run_id


def current(root: Path, preferred: str = "") -> str | None:
    record = loaded.current(Runs(root), preferred)
    return record.id if record is not None else None


def test_nothing_is_loaded_where_nothing_was_served(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.RUNNING, kind="train")
    assert current(tmp_path) is None


def test_a_new_page_finds_the_newest_server_that_lives(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.READY)
    server(tmp_path, "2", RunState.STARTING)
    server(tmp_path, "3", RunState.STOPPED)
    assert current(tmp_path) == "2"


def test_a_session_stays_with_the_server_it_talks_to(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.READY)
    server(tmp_path, "2", RunState.READY)
    assert current(tmp_path, "1") == "1"


def test_a_failure_stays_in_sight_of_the_session_that_had_it(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.READY)
    server(tmp_path, "2", RunState.FAILED)
    assert current(tmp_path, "2") == "2"
    assert current(tmp_path) == "1"


def test_a_failure_of_long_ago_is_nobody_elses(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.FAILED)
    server(tmp_path, "2", RunState.LOST)
    server(tmp_path, "3", RunState.STOPPED)
    assert current(tmp_path) is None
    assert current(tmp_path, "3") is None, "unloaded: nothing is loaded"
    assert current(tmp_path, "gone") is None


def test_a_stopped_server_gives_way_to_one_that_lives(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.READY)
    server(tmp_path, "2", RunState.STOPPED)
    assert current(tmp_path, "2") == "1"


def test_only_a_ready_server_is_asked(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.STARTING)
    assert loaded.ready(Runs(tmp_path)) is None


def test_merged_models_are_offered_once_under_their_own_name(tmp_path: Path) -> None:
    server(tmp_path, "1", RunState.STOPPED, kind="train")
    server(tmp_path, "2", RunState.SUCCEEDED, kind="merge", of="1")
    server(tmp_path, "3", RunState.SUCCEEDED, kind="merge", of="1")
    server(tmp_path, "4", RunState.SUCCEEDED, kind="merge")
    offers = [(offer.value, offer.name) for offer in loaded.offers(Runs(tmp_path))]
    assert offers == [("starter", "starter"), ("4", "4"), ("1:merged", "3")]
