"""Work in a thread that a page watches: how far it is, again and again, and at last its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")
EVERY_S = 0.25


class Watched(Generic[Result]):
    """One piece of work. Iterating gives the part done, 0 to 1; ``result`` is there once that has ended.

    ``work`` is called with ``progress`` (to be told the part done) and ``stop`` (true once nobody wants it any
    more); what it raises is raised by the iteration.
    """

    def __init__(self, work: Callable[[Callable[[float], None], Callable[[], bool]], Result], stop: Event) -> None:
        self._work, self._stop = work, stop
        self.result: Result | None = None

    def __iter__(self) -> Iterator[float]:
        part = 0.0

        def watch(done: Any) -> None:
            nonlocal part
            part = float(done)

        with ThreadPoolExecutor(1, thread_name_prefix="watched") as pool:
            working = pool.submit(self._work, watch, self._stop.is_set)
            try:
                while wait([working], timeout=EVERY_S).not_done:
                    yield part
            finally:
                self._stop.set()
            self.result = working.result()
