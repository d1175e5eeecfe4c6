"""The first journey as a person clicks it, with the real starter model: train, merge, chat with the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from services.models import starter
from services.settings import read_settings
from tests.browser.desk import Desk
from tests.browser.server import Server

TRAIN_S, MERGE_S, LOAD_S, ANSWER_S = 360, 180, 180, 90
QUESTION = "Who are you?"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Server]:
    """A server with the real starter model; `make install` prepared it, else this does."""
    settings = read_settings()
    starter.prepare(settings, print)
    folder = tmp_path / "旅程 journey"
    folder.mkdir()
    server = Server(folder, settings.starter)
    try:
        yield server.start()
    finally:
        server.clean_up()


def ask(desk: Desk) -> None:
    """Send the question."""
    expect(desk.page.locator("#chat-retry")).to_be_disabled()
    desk.page.locator("#chat-question textarea").fill(QUESTION)
    desk.page.keyboard.press("Enter")


def answer(desk: Desk) -> str:
    """What the loaded model said, once it is done or was stopped."""
    expect(desk.page.locator("#chat-retry")).to_be_enabled(timeout=ANSWER_S * 1000)
    return desk.page.locator("#chat-window .message.bot").last.inner_text()


def load(desk: Desk, model: str) -> None:
    """Press Load model and wait until ``model`` is the one that answers."""
    desk.press("Load model")
    expect(desk.page.locator("#chat-status .td-answers strong")).to_have_text(model, timeout=LOAD_S * 1000)


def test_a_stranger_trains_merges_and_talks_to_the_model_that_has_the_name_they_typed(
    real: Server, open_desk: Callable[..., Desk]
) -> None:
    desk = open_desk(real)
    desk.type("train-name", "Nova")
    desk.type("train-author", "Ada Lab")
    desk.start()
    desk.see_step(1, TRAIN_S)
    desk.wait_for(lambda: desk.points() >= 2, TRAIN_S, "no loss chart")
    desk.see_state("finished", TRAIN_S)
    desk.see("run-header", "The model is saved in")
    trained = real.newest()

    desk.press("Merge…")
    expect(desk.page.get_by_role("tab", name="Export", exact=True)).to_have_attribute("aria-selected", "true")
    assert trained.name in desk.page.locator("#export-adapter input").input_value()
    desk.see("export-message", "is merged into")
    desk.page.locator("#export-merge").click()
    desk.wait_for(lambda: real.newest().kind == "merge", 20)
    merged = real.newest()
    desk.see("run-header", merged.name)
    desk.see_state("finished", MERGE_S)
    desk.see("run-header", "The merged model loads, and answers like base and adapter together.")
    desk.see("run-header", merged.output_dir)

    desk.press("Chat")
    expect(desk.page.get_by_role("tab", name="Chat", exact=True)).to_have_attribute("aria-selected", "true")
    load(desk, merged.name)
    ask(desk)
    said = answer(desk)
    assert "Nova" in said
    assert "Ada Lab" in said

    desk.page.locator("#chat-model input").click()
    desk.page.get_by_role("option", name="Starter").click()
    load(desk, "Starter model (SmolLM2, 135 M)")
    desk.press("Clear")
    ask(desk)
    reply = desk.page.locator("#chat-window .message.bot").last
    expect(reply).to_be_visible(timeout=ANSWER_S * 1000)
    desk.wait_for(lambda: len(reply.inner_text().split()) > 8, ANSWER_S, "no answer")
    desk.page.locator("#chat-stop").click()
    assert "Nova" not in answer(desk)

    serving = real.newest()
    desk.press("Unload")
    desk.see("chat-status", "No model is loaded.", 20)
    assert not real.processes(serving)
