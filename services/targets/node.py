"""A run's keeper on one node: starts its ranks there, tells the lead of them, and ends them when the lead is gone.

Started over SSH as ``python -P -m services.targets.node``. What it is to do comes as the first line of its input;
services/targets/messages.py lists the rest. With ``--check`` it only says what is there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import orjson

from services.runs import process, queue
from services.runs.folder import RunFolder
from services.settings import read_settings
from services.targets import presence
from services.targets.messages import Message, Outbox, listen
from services.targets.parcel import Parcel
from services.targets.pulse import Pulse

POLL_S = 0.1
TERM_S = 2.0
FAREWELL_S = 5.0
CHUNK_BYTES = 1 << 15
LEAD_GONE = 70
"""Exit code of a keeper whose lead fell silent."""


@dataclass
class NodeKeeper:
    """Keeps the ranks of one node. ``clock`` and ``sleep`` are replaceable."""

    job: Message
    outbox: Outbox
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    inbox: SimpleQueue[Message | None] = field(default_factory=SimpleQueue)
    pulse: Pulse = field(init=False)
    gone: bool = False
    """The lead said to end, fell silent, or closed the connection."""
    offset: int = 0
    go: Message | None = None
    told_listening: bool = False
    parcel: Parcel | None = None

    def __post_init__(self) -> None:
        self.pulse = Pulse(float(self.job["timeout_s"]), self.clock)
        if self.job.get("parcel"):
            self.parcel = Parcel(**self.job["parcel"])

    @property
    def run(self) -> Path:
        return Path(self.job["run"])

    @property
    def own(self) -> RunFolder:
        """This node's files of the attempt; the run's folder may be one that all nodes share."""
        return RunFolder(self.run / "attempts" / str(self.job["attempt"]) / "nodes" / str(self.job["rank"]))

    @property
    def log(self) -> Path:
        return self.own.path / "output.log"

    @property
    def mark(self) -> str:
        return f"{self.run}@{self.job['rank']}"

    def keep(self) -> int:
        """See the ranks through; their exit code, or LEAD_GONE."""
        process.become_subreaper()
        process.sweep(self.mark)  # of an attempt whose keeper was killed
        self.own.path.mkdir(parents=True, exist_ok=True)
        self.own.forget_stop()
        for name, text in self.job["files"].items():
            if not (self.run / name).exists():
                (self.run / name).write_text(text, encoding="utf-8")
        self.fetch()
        self.outbox.put({"ready": self.facts()})
        while self.go is None and not self.gone:
            self.attend()
        code = LEAD_GONE if self.go is None else self.watch(self.start(self.go))
        process.sweep(self.mark)
        if not self.gone:
            self.send_log(to_the_end=True)
        self.outbox.put({"exit": code})
        self.outbox.close(within_s=0.2 if self.gone else FAREWELL_S)
        return code

    def fetch(self) -> None:
        """Ask for what is missing of the checkpoint to go on from, and wait for it. Raises OSError."""
        if self.parcel is None or not (lacking := set(self.parcel.missing())):
            return
        for name in lacking:
            Path(self.parcel.path, name + ".partial").unlink(missing_ok=True)
        self.outbox.put({"want": sorted(lacking)})
        while lacking & set(self.parcel.missing()) and not self.gone:
            self.attend()

    def facts(self) -> dict[str, Any]:
        port = self.job["port"] or queue.free_port(set(), host="0.0.0.0")
        return {"port": port, **presence.addresses(read_settings())}

    def start(self, variables: Message) -> subprocess.Popen[bytes]:
        """The command of this node, with the variables that all nodes agreed on. Raises OSError."""
        env = {**self.job["env"], **variables, process.RUN_MARK: self.mark, process.RUN_STOP: str(self.own.stop)}
        return process.spawn(self.job["argv"], cwd=self.run, env=env, log=self.log)

    def watch(self, child: subprocess.Popen[bytes]) -> int:
        """Until the ranks have ended, by themselves or because the lead is gone."""
        while (code := child.poll()) is None and not self.gone:
            self.attend()
            self.send_log()
            if not self.told_listening and self.own.stop_listener.exists():
                self.told_listening = True
                self.outbox.put({"listening": True})
            process.reap(besides=child.pid)
        if code is not None:
            return code
        process.sweep(self.mark, child.pid)  # nothing will be saved: without the lead the ranks cannot go on
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=TERM_S)
        return LEAD_GONE

    def attend(self) -> None:
        """Hear what the lead says, and give it signs of life."""
        try:
            self.take(self.inbox.get(timeout=POLL_S))
            while True:
                self.take(self.inbox.get_nowait())
        except Empty:
            pass
        if self.pulse.due():
            self.outbox.put({"beat": True})
        self.gone = self.gone or self.pulse.lost

    def take(self, message: Message | None) -> None:
        if message is None or "end" in message:
            self.gone = True
            return
        self.pulse.hear()
        if "go" in message:
            self.go = message["go"]
        elif "put" in message and self.parcel is not None:
            if self.parcel.take(message):
                self.outbox.put({"got": message["put"]})
        elif "stop" in message and not self.own.stop.exists():
            self.own.ask_to_stop(now=False, at=time.time())

    def send_log(self, to_the_end: bool = False) -> None:
        while not self.outbox.is_full or to_the_end:
            try:
                with self.log.open("rb") as file:
                    file.seek(self.offset)
                    data = file.read(CHUNK_BYTES)
            except OSError:
                return
            if not data:
                return
            self.offset += len(data)
            self.outbox.put({"log": data.decode("latin-1")})


def main(options: list[str]) -> int:
    """Keep the job that the first line of the input describes, or say what is here."""
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    request = orjson.loads(sys.stdin.buffer.readline() or b"{}")
    if options == ["--check"]:
        os.write(1, orjson.dumps({"here": presence.presence(request, read_settings())}) + b"\n")
        return 0
    keeper = NodeKeeper(request, Outbox(1))
    signal.signal(signal.SIGTERM, lambda *_: setattr(keeper, "gone", True))
    listen(sys.stdin.buffer, keeper.inbox.put)
    try:
        return keeper.keep()
    except OSError as error:
        keeper.outbox.put({"failed": str(error)})
        keeper.outbox.close(FAREWELL_S)
        return 1


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # a thread may still wait for a line that never comes
