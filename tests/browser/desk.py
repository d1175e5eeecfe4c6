"""The window as a person uses it: what can be pressed, typed and read, by what is written on it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, expect

from tests.browser.server import Server

LAUNCH_S = 120
"""ms-swift takes 10 to 40 seconds before the first step on two busy cores."""


TICK_S = 1.0
"""How often the page asks the server. A page that is told of a new run may show the old one for one more tick."""


class Desk:
    """One page of one server. What goes wrong in the page is kept in ``errors``."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        page.on("console", self._on_console)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text} ({message.location.get('url')})")

    def forgive(self, pattern: str) -> None:
        """Forget the errors so far that are what the test brought about."""
        self.errors = [error for error in self.errors if not re.search(pattern, error)]

    def forgive_lost_server(self) -> None:
        """Forget what the console says of a server that the test has killed.

        Each browser, and each moment of a request, has words of its own for a connection that is gone: all
        that the console says goes. An error that the page's own code did not catch stays.
        """
        self.forgive("^console: ")

    def open(self, path: str = "/") -> Desk:
        """Open the window and wait until it is filled."""
        self.page.goto(self.server.url + path)
        self.wait_until_filled()
        return self

    def wait_until_filled(self) -> None:
        expect(self.page.locator("#machine .td-meter").first).to_be_visible(timeout=60_000)
        expect(self.page.locator("#run-header > .html-container")).not_to_have_text("", timeout=60_000)
        # a tick may fill those two first; what is typed before the form is there would be typed over
        form = self.page.locator("#train-summary .td-facts, #train-message .td-card").first
        expect(form).to_be_attached(timeout=60_000)

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str) -> None:
        """Press the visible button with this name."""
        self.page.get_by_role("button", name=name, exact=True).filter(visible=True).click()

    def start(self, button: str = "Start training") -> None:
        """Press Start and wait until the new run is the one that is shown."""
        before = {record.id for record in self.server.runs.list()}
        self.press(button)
        self.wait_for(lambda: {record.id for record in self.server.runs.list()} > before, 20, "no new run")
        name = self.server.newest().name
        self.wait_for(lambda: name in self.page.locator("#run-header").inner_text().split("\n"), 10, f"no {name!r}")

    def type(self, field: str, text: str) -> None:
        """Type ``text`` into the field with the element id ``field`` and leave it."""
        box = self.page.locator(f"#{field}").locator("input, textarea").first
        box.fill(text)
        box.press("Tab")

    def choose(self, field: str, text: str) -> None:
        """Type a value of one's own into a dropdown."""
        box = self.page.locator(f"#{field} input").first
        box.click()
        box.fill(text)
        box.press("Enter")
        box.press("Tab")

    def unfold(self, box: str) -> None:
        """Open the accordion with the element id ``box``, unless it is open."""
        label = self.page.locator(f"#{box} > button.label-wrap")
        if "open" not in (label.get_attribute("class") or ""):
            label.click()

    def text(self, box: str) -> str:
        """What is written in the element with this id."""
        return self.page.locator(f"#{box}").inner_text()

    def code(self, box: str) -> str:
        """A command that is shown, taken with its Copy button (an editor draws only the lines in sight)."""
        self.page.evaluate("navigator.clipboard.writeText('')")
        self.page.locator(f"#{box}").get_by_role("button").first.click()
        copied = ""
        while not copied:
            self.page.wait_for_timeout(50)
            copied = self.page.evaluate("navigator.clipboard.readText()")
        return str(copied)

    @property
    def state(self) -> str:
        """The state of the run that is shown, without its sign."""
        return self.page.locator("#run-header .td-state").inner_text().partition(" ")[2]

    def see(self, box: str, text: str | re.Pattern[str], within_s: float = 15) -> None:
        """Wait until ``text`` is written in the element with this id."""
        expect(self.page.locator(f"#{box}")).to_contain_text(text, timeout=within_s * 1000)

    def see_state(self, state: str, within_s: float = LAUNCH_S) -> None:
        """Wait for a state of the run that is shown; another last state, seen for a while, fails at once."""
        badge = self.page.locator("#run-header .td-state")
        deadline = time.monotonic() + within_s
        over_since = float("inf")
        while True:
            seen = badge.inner_text() if badge.count() else ""
            if seen.endswith(f" {state}"):
                return
            now = time.monotonic()
            over = any(seen.endswith(f" {last}") for last in ("finished", "failed", "stopped", "lost"))
            over_since = min(over_since, now) if over else float("inf")
            failed = now > deadline or now - over_since > 2 * TICK_S
            assert not failed, f"{seen!r} instead of {state!r}: {self.text('run-column')}"
            self.page.wait_for_timeout(100)

    def see_step(self, number: int, within_s: float = LAUNCH_S) -> None:
        """Wait until the run that is shown has done step ``number``."""
        self.wait_for(lambda: (self.step or 0) >= number, within_s)

    @property
    def step(self) -> int | None:
        """The step that the progress bar names."""
        found = re.search(r"step (\d+) of", self.text("run-header"))
        return int(found[1]) if found else None

    def points(self) -> int:
        """How many points the loss chart has."""
        line = self.page.locator("#run-charts .td-chart").first.locator("path.td-line")
        return len(re.findall(r"[ML]", line.get_attribute("d") or "")) if line.count() else 0

    def wait_for(self, holds: Callable[[], bool], within_s: float, what: str = "") -> None:
        deadline = time.monotonic() + within_s
        while not holds():
            assert time.monotonic() < deadline, what or self.text("run-column")
            self.page.wait_for_timeout(100)

    def picture(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path, full_page=True)
