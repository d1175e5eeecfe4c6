"""TuneDesk as a person starts it: ``python -P -m gui`` in a process of its own, over a data folder of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from services.runs import process
from services.runs.folder import Record, RunFolder, list_runs
from services.runs.lifecycle import Runs
from services.runs.process import RUN_MARK

PROJECT = Path(__file__).resolve().parents[2]
START_S = 90


class Server:
    """One server; it can be killed and started again over the same folder."""

    def __init__(self, folder: Path, starter: Path, *options: str, env: Mapping[str, str] | None = None) -> None:
        self.home = folder / "家 home"
        self.log = folder / "server.log"
        self.options = options
        self.runs = Runs(self.home / "runs")
        inherited = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("TUNEDESK_", "GRADIO_")) and name not in ("DISPLAY", "WAYLAND_DISPLAY")
        }  # fmt: skip
        self.env = {
            **inherited, "TUNEDESK_HOME": str(self.home), "TUNEDESK_STARTER": str(starter), "TUNEDESK_CPU_SLOTS": "1",
            "PYTHONUNBUFFERED": "1", **(env or {}),
        }  # fmt: skip
        self.port = free_port()
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Server:
        """Start it and wait until it answers."""
        said = self.log.stat().st_size if self.log.exists() else 0
        argv = [sys.executable, "-P", "-m", "gui", "--no-browser", "--port", str(self.port), *self.options]
        with self.log.open("ab") as output:
            self.child = subprocess.Popen(
                argv, cwd=PROJECT, env=self.env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        deadline = time.monotonic() + START_S
        while not (opened := re.search(rb"is open at \S+?:(\d+)", self.log.read_bytes()[said:])):
            assert self.child.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.05)
        self.port = int(opened[1])
        return self

    def said(self) -> str:
        """What it printed."""
        return self.log.read_text("utf-8", "replace")

    def end(self, signal_number: int = signal.SIGTERM) -> None:
        """End the server, not its runs."""
        if self.child is not None:
            self.child.send_signal(signal_number)
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
            self.child = None

    def stop_runs(self) -> None:
        """End whatever still runs, and wait for it."""
        live = [record for record in self.runs.list() if not record.state.final]
        for record in live:
            self.runs.stop(record.id, now=True)
        for record in live:
            self.runs.wait(record.id, timeout_s=20)

    def clean_up(self) -> None:
        """End the server and every process its runs have left, keepers first."""
        self.end()
        for folder in list_runs(self.runs.root):
            process.send(keepers_of(folder), signal.SIGKILL)
            process.sweep(str(folder.path))

    def newest(self) -> Record:
        """The run that was started last."""
        return self.runs.list()[0]

    def processes(self, record: Record) -> list[psutil.Process]:
        """The living processes of a run."""
        return process.members(mark=str(self.runs.folder(record.id).path))


def keepers_of(folder: RunFolder) -> list[psutil.Process]:
    """The keepers of a run: they carry no mark themselves."""
    found = []
    for one in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = one.cmdline()
            if "services.runs.keeper" in words and words[-1] == str(folder.path) and RUN_MARK not in one.environ():
                found.append(one)
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
