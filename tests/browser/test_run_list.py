"""The list of runs and the buttons of the one that is shown, over runs that are written by hand."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from services.runs import process
from services.runs.folder import Record, RunFolder, RunState
from tests.browser.desk import Desk
from tests.browser.server import Server

LIVE = {"keeper": process.me()}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[Server]:
    """A server of this file's own."""
    server = Server(tmp_path_factory.mktemp("列 shelf"), tiny)
    try:
        yield server.start()
    finally:
        server.end()


@pytest.fixture
def put(shelf: Server) -> Iterator[Callable[..., RunFolder]]:
    """``put(name, state, steps=0, …)`` writes a training run; they are gone after the test."""
    made: list[RunFolder] = []

    def put(name: str, state: RunState, steps: int = 0, **values: Any) -> RunFolder:
        folder = RunFolder(shelf.runs.root / f"1-{name}")
        output = folder.path / "output" / "v0-1"
        output.mkdir(parents=True)
        folder.attempt(1).mkdir(parents=True)
        folder.log(1).write_text(f"[INFO:swift] output_dir: {output}\n")
        lines = [json.dumps({"loss": 1 / step, "global_step/max_steps": f"{step}/9"}) for step in range(1, steps + 1)]
        (output / "logging.jsonl").write_text("\n".join([*lines, ""]))
        folder.spec.write_text("model: starter\ndataset: [sample]\nmodel_name: Marvin\nlearning_rate: 0.00042\n")
        live = {} if state.final else LIVE
        now = time.time() + len(made)
        record = Record(id=folder.id, name=name, kind="train", state=state, created=now, queued=now, **live)
        folder.write(replace(record, **values))
        made.append(folder)
        return folder

    yield put
    for folder in made:
        if folder.path.exists():
            folder.path.rename(folder.path.with_name(f".{folder.path.name}"))


def test_a_second_click_on_stop_does_not_end_the_run_at_once(
    shelf: Server, put: Callable[..., RunFolder], open_desk: Callable[..., Desk]
) -> None:
    folder = put("runs", RunState.RUNNING, steps=3)
    desk = open_desk(shelf)
    desk.see("run-header", "runs")
    stop = desk.page.locator("#run-stop")
    place = stop.bounding_box()
    assert place is not None
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    desk.page.mouse.click(x, y)
    folder.write(replace(folder.read(), state=RunState.STOPPING, stopping_since=time.time()))
    desk.see("run-header", "stopping")
    expect(stop).to_be_disabled()
    assert stop.bounding_box() == place
    for _ in range(5):
        desk.page.mouse.click(x, y)
        desk.page.wait_for_timeout(300)
    assert json.loads(folder.stop.read_text())["now"] is False
    desk.press("Stop now")
    desk.wait_for(lambda: json.loads(folder.stop.read_text())["now"] is True, 5)


def test_choosing_a_run_far_down_leaves_a_long_list_in_sight(
    shelf: Server, put: Callable[..., RunFolder], open_desk: Callable[..., Desk]
) -> None:
    for number in range(110):
        put(f"run-{number:03}", RunState.SUCCEEDED)
    desk = open_desk(shelf)
    desk.see("no-runs", "10 older ones")
    expect(desk.page.locator("#no-runs")).to_be_visible()
    one = desk.page.locator("#runs label", has_text="run-040")
    one.scroll_into_view_if_needed()
    one.click()
    desk.see("run-header", "run-040")
    expect(one).to_be_in_viewport()
    box = desk.page.locator("#runs .wrap").last.bounding_box()
    assert box is not None and 0 <= box["y"] < 700
    assert desk.page.evaluate("document.querySelector('#sidebar .sidebar-content')?.scrollTop || 0") == 0


def test_the_settings_of_a_run_come_back_into_the_form(
    shelf: Server, put: Callable[..., RunFolder], open_desk: Callable[..., Desk]
) -> None:
    error = {"code": "killed", "values": {}, "line": ""}
    put("too big", RunState.FAILED, steps=2, error=error)
    desk = open_desk(shelf)
    desk.see("run-header", "press “Use these settings”")
    desk.tab("Export")
    desk.press("Use these settings")
    expect(desk.page.locator("#train-name").locator("input, textarea")).to_have_value("Marvin")
    expect(desk.page.locator("#train-learning-rate").locator("input, textarea")).to_have_value(
        re.compile("0.00042|4.2e-0?4")
    )


def test_a_delete_can_be_thought_better_of(
    shelf: Server, put: Callable[..., RunFolder], open_desk: Callable[..., Desk]
) -> None:
    folder = put("precious", RunState.SUCCEEDED, steps=2)
    desk = open_desk(shelf)
    desk.see("run-header", "precious")
    desk.page.locator("#run-delete").click()
    desk.see("run-delete-box", "Delete precious?")
    desk.press("Keep it")
    expect(desk.page.locator("#run-delete-box")).to_be_hidden()
    assert folder.path.exists()
    desk.page.locator("#run-delete").click()
    desk.press("Yes, delete it for good")
    desk.wait_for(lambda: not folder.path.exists(), 10)


def test_a_page_whose_server_is_gone_says_so_and_takes_no_clicks_until_it_is_back(
    shelf: Server, put: Callable[..., RunFolder], open_desk: Callable[..., Desk]
) -> None:
    put("here", RunState.SUCCEEDED, steps=2)
    desk = open_desk(shelf)
    desk.type("train-name", "Kept")
    desk.page.wait_for_timeout(3000)  # until the browser has been told to keep it
    shelf.end(signal.SIGKILL)
    expect(desk.page.locator("#away")).to_be_visible(timeout=10_000)
    desk.see("away", "TuneDesk does not answer")
    assert desk.page.locator("#desk").get_attribute("inert") is not None
    shelf.start()
    expect(desk.page.locator("#away")).to_be_hidden(timeout=20_000)
    desk.wait_until_filled()
    expect(desk.page.locator("#train-name").locator("input, textarea")).to_have_value("Kept")
    desk.see("run-header", "here")
    desk.forgive_lost_server()


def test_a_phone_shows_the_page_and_not_the_sidebar_and_start_leads_to_the_run(
    shelf: Server, put: Callable[..., RunFolder], open_desk: Callable[..., Desk]
) -> None:
    put("old", RunState.SUCCEEDED, steps=2)
    desk = open_desk(shelf, viewport={"width": 390, "height": 844})
    expect(desk.page.locator("#sidebar")).not_to_have_class(re.compile(r"\bopen\b"))
    before = len(shelf.runs.list())
    try:
        desk.press("Start training")
        desk.wait_for(lambda: len(shelf.runs.list()) > before, 20)
        expect(desk.page.locator("#run-header")).to_be_in_viewport(timeout=10_000)
    finally:
        shelf.stop_runs()
