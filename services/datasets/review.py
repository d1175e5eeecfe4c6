"""A check to be watched: the first rows soon, how far it has come, and at last what it says."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from uuid import uuid4

from services.datasets.check import check
from services.datasets.report import Report
from services.datasets.sample import sample_rows
from services.datasets.sources import Source
from services.errors import Failed
from services.presets import first_journey
from services.settings import Settings

EVERY_S = 0.25
FIRST_ROWS = 20


@dataclass(frozen=True)
class Step:
    """A check at one moment."""

    report: Report
    """About the first rows; once ``done``, about all that was read."""
    part: float
    """Of the file, 0 to 1."""
    done: bool


def review(source: Source, settings: Settings, stop: Event) -> Iterator[Step]:
    """Check ``source`` (the sample or a file), with a step every quarter of a second.

    When ``stop`` is set, from any thread, the last report is about what was read until then; closing the
    iterator ends the check too. Raises Refused("dataset_unreadable") and Failed("cannot_write").
    """
    path = source.path or _sample_file(settings)
    part, first = 0.0, None

    def watch(done: float) -> None:
        nonlocal part
        part = done

    with ThreadPoolExecutor(1, thread_name_prefix="dataset-check") as pool:
        checking = pool.submit(check, path, progress=watch, stop=stop.is_set)
        try:
            while wait([checking], timeout=EVERY_S).not_done:
                first = first or check(path, limit=FIRST_ROWS)
                yield Step(first, part, done=False)
        finally:
            stop.set()
    yield Step(checking.result(), 1.0, done=True)


def _sample_file(settings: Settings) -> Path:
    """The sample as a file, with the names that an untouched form holds."""
    spec = first_journey()
    rows = sample_rows(spec.model_name, spec.model_author).encode()
    path = settings.cache / "sample.jsonl"
    try:
        if not path.is_file() or path.read_bytes() != rows:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_name(f"sample-{uuid4().hex}.partial")
            partial.write_bytes(rows)
            partial.replace(path)
    except OSError as error:
        raise Failed("cannot_write", what=str(path.parent), details=str(error)) from error
    return path
