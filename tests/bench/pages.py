"""Programs that serve a page: TuneDesk's window, and the one-button app beside it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from playwright.sync_api import Page, sync_playwright

from services.settings import read_settings
from tests.browser.chromium import chromium_arguments, provide_chromium

ONE_BUTTON = Path(__file__).with_name("one_button.py")
START_LIMIT_S = 120.0
LOOK_EVERY_S = 0.02
MB = 1e6


@dataclass(frozen=True)
class Server:
    """A program that answers at ``address``."""

    address: str
    process: psutil.Process
    started_in_s: float
    """From its command to its first answer."""

    def family(self) -> list[psutil.Process]:
        return [self.process, *self.process.children(recursive=True)]

    def resident_mb(self) -> float:
        return sum(one.memory_info().rss for one in self.family()) / MB

    def cpu_seconds(self) -> float:
        times = [one.cpu_times() for one in self.family()]
        return float(sum(one.user + one.system for one in times))

    def cpu_percent(self, over_s: float) -> float:
        """Its share of one core during the next ``over_s`` seconds."""
        before, began = self.cpu_seconds(), time.monotonic()
        time.sleep(over_s)
        return 100 * (self.cpu_seconds() - before) / (time.monotonic() - began)


Command = Callable[[Path, int], list[str]]
"""(data folder, port) -> argv."""


def window(home: Path, port: int) -> list[str]:
    """The command of TuneDesk's window; ``serving`` gives it its data folder."""
    return [sys.executable, "-P", "-m", "gui", "--no-browser", "--port", str(port)]


def one_button(home: Path, port: int) -> list[str]:
    return [sys.executable, "-P", str(ONE_BUTTON), str(port)]


@contextmanager
def serving(command: Command, home: Path) -> Iterator[Server]:
    """Start a program, wait for its first answer, end it afterwards. Raises RuntimeError where it does not answer."""
    port = free_port()
    address = f"http://127.0.0.1:{port}/"
    with (home / "server.log").open("ab") as log:
        began = time.monotonic()
        child = subprocess.Popen(command(home, port), cwd=home, env=environment(home), stdin=subprocess.DEVNULL,
                                 stdout=log, stderr=subprocess.STDOUT)  # fmt: skip
    try:
        yield Server(address, psutil.Process(child.pid), _first_answer(child, address, began, home / "server.log"))
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def environment(home: Path) -> dict[str, str]:
    """This environment with a data folder of its own and the starter model that `make install` prepared."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TUNEDESK_")}
    starter = str(read_settings().starter)
    return {**ours, "TUNEDESK_HOME": str(home), "TUNEDESK_STARTER": starter, "GRADIO_ANALYTICS_ENABLED": "False"}


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


@contextmanager
def opened(address: str, wait_for: str) -> Iterator[Page]:
    """The page in Chromium, once the selector ``wait_for`` is seen; closed afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=provide_chromium(), args=chromium_arguments())
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_selector(wait_for, timeout=START_LIMIT_S * 1000)
            yield page
        finally:
            browser.close()


def _first_answer(child: subprocess.Popen[bytes], address: str, began: float, log: Path) -> float:
    while time.monotonic() - began < START_LIMIT_S and child.poll() is None:
        try:
            if httpx.get(address, timeout=10, trust_env=False).status_code == 200:
                return time.monotonic() - began
        except httpx.TransportError:
            time.sleep(LOOK_EVERY_S)
    raise RuntimeError(f"{address} does not answer: {log.read_text(errors='replace')[-2000:]}")
