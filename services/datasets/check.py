"""Can this file be trained on, and which of its rows cannot: looked at once, then read to its end.

What a tokenizer is needed for (rows that are too long) is not checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from services.datasets import shape
from services.datasets.files import DataFile, open_file
from services.datasets.formats import Task, detect
from services.datasets.report import Report
from services.datasets.rows import Fault, Row
from services.datasets.tally import Look, Tally

_SAMPLED = 100
"""Rows the format is decided from."""
_BETWEEN_LOOKS = 1_000
"""Rows between two looks at ``stop`` and two calls of ``progress``."""

Progress = Callable[[float], None]


def look(path: Path, *, task: Task = "sft") -> Look:
    """Read the beginning of ``path``. Raises Refused("dataset_unreadable")."""
    file = open_file(path)
    learnt: shape.Shape | None = None
    if file.reader in ("json", "array"):
        learnt = shape.JsonShape(grows=file.reader == "array")
    elif file.reader == "csv":
        learnt = shape.CsvShape()
    columns: dict[str, None] = {}
    sample: list[Row] = []
    start = 0
    for number, item in file.rows():
        row = item.row if isinstance(item, Fault) else item
        if _past_beginning(file, number, start):
            break
        start = file.consumed
        if row is None:
            continue
        columns.update(dict.fromkeys(row))
        if learnt is not None:
            learnt.learn(row)
        if len(sample) < _SAMPLED:
            sample.append(row)
    file.consumed = 0
    return Look(file, tuple(columns), detect(tuple(columns), sample, task=task), learnt)


def check(
    path: Path,
    *,
    task: Task = "sft",
    limit: int | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Report:
    """Read ``path`` to its end (or ``limit`` rows, or until ``stop()``) and say what can be trained on.

    ``progress`` is called with the part done, 0 to 1. Raises Refused("dataset_unreadable").
    """
    seen = look(path, task=task)
    tally = Tally(seen, task)
    complete = True
    start = 0
    for number, item in seen.file.rows():
        if number % _BETWEEN_LOOKS == 0:
            if progress is not None:
                progress(seen.file.fraction())
            if stop is not None and stop():
                complete = False
                break
        if limit is not None and number > limit:
            complete = False
            break
        tally.add(number, item, late=_past_beginning(seen.file, number, start))
        start = seen.file.consumed
    if progress is not None and complete:
        progress(1.0)
    return tally.report(complete)


def _past_beginning(file: DataFile, number: int, start: int) -> bool:
    """Whether a row lies behind the part that fixes columns and types (for arrays and Parquet: what we look at)."""
    if file.reader == "json":
        return start >= shape.FIRST_BYTES
    return number > shape.FIRST_ROWS
