"""What this machine and a node's keeper say to each other: one JSON object a line, over the pipes of an SSH connection.

to a node     {job}, then {"put": piece of a file}, {"go": {variables}}, {"beat": true}, {"stop": true}, {"end": true}
from a node   {"want": [files]}, {"got": file}, {"ready": {facts}}, {"beat": true}, {"log": bytes as Latin-1},
              {"listening": true}, {"failed": why}, {"exit": code}
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

import orjson

Message = dict[str, Any]
MOST_WAITING = 64
"""Lines that may wait for a slow connection before no more of the log is taken up."""


class Outbox:
    """Writes from a thread of its own, so that a connection that takes nothing more never holds its owner up."""

    def __init__(self, descriptor: int) -> None:
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._descriptor = descriptor
        self._thread = Thread(target=self._write, daemon=True)
        self._thread.start()

    @property
    def is_full(self) -> bool:
        return self._lines.qsize() > MOST_WAITING

    def put(self, message: Message) -> None:
        self._lines.put(orjson.dumps(message) + b"\n")

    def close(self, within_s: float) -> None:
        """Write what waits, at most for so long."""
        self._lines.put(None)
        self._thread.join(within_s)

    def _write(self) -> None:
        with contextlib.suppress(OSError):  # nobody reads any more
            while (line := self._lines.get()) is not None:
                while line:
                    line = line[os.write(self._descriptor, line) :]


def listen(pipe: BinaryIO, on_message: Callable[[Message | None], None]) -> None:
    """Call ``on_message`` from a thread for every message that comes, and with None when no more can."""

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in pipe:
                if (message := message_of(line)) is not None:
                    on_message(message)
        on_message(None)

    Thread(target=read, daemon=True).start()


def message_of(line: bytes) -> Message | None:
    """The message on a line; None for anything else, as a login banner."""
    try:
        value = orjson.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
