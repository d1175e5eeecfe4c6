"""The run view: what happens to a run is what the page says, and the page may come and go."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.server import Server


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[Server]:
    """A server of this file's own, which may be killed."""
    server = Server(tmp_path_factory.mktemp("起 own"), tiny)
    try:
        yield server.start()
    finally:
        server.clean_up()


@pytest.fixture
def training(own: Server, open_desk: Callable[..., Desk]) -> Desk:
    """A page that looks at a long run which has begun to train."""
    desk = open_desk(own)
    if desk.page.locator("#run-stop").is_hidden():
        desk.type("train-num-train-epochs", "2000")
        desk.type("train-name", "Nova")
        desk.start()
    desk.see_state("running")
    desk.see_step(3)
    return desk


def test_a_run_outlives_a_reload_and_the_server_and_every_session_sees_it(
    training: Desk, own: Server, open_desk: Callable[..., Desk]
) -> None:
    training.wait_for(lambda: training.points() >= 2, 20, "no loss chart")
    assert training.page.locator("#run-charts .td-chart").count() == 4
    step, run = training.step, own.newest()

    training.page.reload()
    training.wait_until_filled()
    training.forgive_lost_server()  # what was asked when the page was left
    training.see("run-header", run.name)
    assert (training.step or 0) >= (step or 0)
    assert training.points() >= 2, "the charts are there at once"
    assert training.page.locator("#train-name").locator("input, textarea").input_value() == "Nova"
    assert training.page.locator("#train-num-train-epochs").locator("input, textarea").input_value() == "2000"

    second = open_desk(own)
    second.see("run-header", run.name)
    assert second.state == "running"
    assert second.points() >= 2
    second.see("runs", run.name)
    assert second.page.locator("#train-name").locator("input, textarea").input_value() == "TuneBot"

    own.end(signal.SIGKILL)
    before = own.runs.snapshot(run.id).step or 0
    time.sleep(1)
    own.start()
    for desk in (training, second):
        desk.forgive_lost_server()
    third = open_desk(own)
    assert third.state == "running"
    assert third.points() >= 2
    third.see_step(before + 1, 20)
    again = training.open()
    again.see("run-header", run.name)
    again.see_step(before + 2, 20)
    for desk in (training, second):
        desk.forgive_lost_server()


def test_stop_saves_resume_goes_on_with_the_next_step_and_stop_now_ends_at_once(training: Desk, own: Server) -> None:
    run = own.newest()
    training.press("Stop (saves first)")
    training.see_state("stopping", 3)
    training.see("run-header", re.compile(r"at most \d+ s more"))
    training.see_state("stopped", 40)
    assert not own.processes(run)
    saved = own.runs.snapshot(run.id).checkpoints[-1].step
    training.see("run-header", f"Its last checkpoint is from step {saved}: Resume goes on from there.")
    expect(training.page.get_by_role("button", name="Merge…", exact=True).filter(visible=True)).to_have_count(1)

    training.press("Resume")
    training.see("run-header", "attempt 2")
    training.see_state("running")
    training.see_step(saved + 3)
    steps = [step for step, _ in own.runs.snapshot(run.id).series("loss")]
    assert steps == sorted(set(steps)), "the chart goes on, it does not go back"
    logged = own.runs.folder(run.id).log(2).read_text("utf-8")
    assert f"checkpoint-{saved}" in logged

    training.press("Stop now")
    began = time.monotonic()
    training.see_state("stopped", 5)
    assert time.monotonic() - began < 5
    assert not own.processes(run)
    training.see("runs", "stopped")
