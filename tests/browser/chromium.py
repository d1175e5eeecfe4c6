"""The browser of the tests: found, or fetched, or its absence said in a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGES = ("chromium", "fonts-noto-cjk")
MISSING = (
    "The browser tests need a Chromium, and none could be found or fetched: install Debian's package chromium "
    "(or run `python -m playwright install chromium` with access to the internet), then run the tests again."
)


class NoChromium(Exception):
    """There is none, and none could be had."""


def find_chromium() -> str | None:
    """The program's path: the system's, else the one that Playwright has fetched."""
    for name in NAMES:
        path = shutil.which(name) or f"/usr/bin/{name}"
        if os.access(path, os.X_OK):
            return path
    fetched = _playwrights()
    return fetched if fetched and Path(fetched).is_file() else None


def provide_chromium() -> str:
    """The program's path, fetched where there is none. Raises NoChromium."""
    found = find_chromium()
    if found:
        return found
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("No Chromium here: installing Debian's", flush=True)
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        _run(["apt-get", "update", "-qq"], env)
        _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES], env)
        found = find_chromium()
    if not found:
        print("No Chromium here: fetching Playwright's", flush=True)
        _run([sys.executable, "-m", "playwright", "install", "chromium"], dict(os.environ))
        found = find_chromium()
    if not found:
        raise NoChromium(MISSING)
    return found


def chromium_arguments() -> list[str]:
    """Chromium's sandbox refuses to work for root; /dev/shm is small in a container."""
    return ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]


def _run(argv: list[str], env: dict[str, str]) -> None:
    try:
        subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{argv[0]}: {error}", flush=True)


def _playwrights() -> str:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path
