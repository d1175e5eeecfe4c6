"""A real server, a real Chromium, and a page that may show no error of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import chromium_arguments, provide_chromium
from tests.browser.desk import Desk
from tests.browser.server import Server
from tests.trainable_model import make_trainable_model

FAILURES = Path(__file__).parent / "failures"
FAILED = pytest.StashKey[bool]()
WIDTH, HEIGHT = 1280, 800


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=provide_chromium(), args=chromium_arguments())
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that trains in seconds and answers nonsense."""
    return make_trainable_model(tmp_path_factory.mktemp("tiny 小") / "model")


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[Server]:
    """The server that most tests share; ``server`` is it, with nothing running."""
    server = Server(tmp_path_factory.mktemp("网页 browser"), tiny, env={"TUNEDESK_ROOTS": str(tiny.parent)})
    try:
        yield server.start()
    finally:
        server.clean_up()


@pytest.fixture
def server(common: Server) -> Iterator[Server]:
    """A server over the tiny model. What a test leaves running is stopped."""
    yield common
    common.stop_runs()


@pytest.fixture
def open_desk(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Desk]]:
    """``open_desk(server, path="/", **context)``: a new browser session that looks at a server."""
    desks: list[Desk] = []

    def open_one(server: Server, path: str | None = "/", **context: Any) -> Desk:
        options = {
            "viewport": {"width": WIDTH, "height": HEIGHT}, "locale": "en-US", "reduced_motion": "reduce",
            "permissions": ["clipboard-read", "clipboard-write"],
        }  # fmt: skip
        desk = Desk(chromium.new_context(**{**options, **context}).new_page(), server)
        desk.page.set_default_timeout(20_000)
        desks.append(desk)
        return desk.open(path) if path is not None else desk

    yield open_one
    errors = [error for desk in desks for error in desk.errors]
    if request.node.stash.get(FAILED, False) or errors:
        name = re.sub(r"\W+", "-", request.node.name)
        for number, desk in enumerate(desks):
            desk.picture(FAILURES / f"{name}-{number}.png")
        for server in {id(desk.server): desk.server for desk in desks}.values():
            print(f"The server said:\n{server.said()[-4000:]}")
            if server.runs.list():
                print(f"Its newest run:\n{server.runs.snapshot(server.newest().id).log_tail[-4000:]}")
    for desk in desks:
        desk.page.context.close()
    assert not errors, "\n".join(errors)


@pytest.fixture
def desk(open_desk: Callable[..., Desk], server: Server) -> Desk:
    """The window of the common server, as a first-time visitor opens it."""
    return open_desk(server)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        item.stash[FAILED] = True
    return report
