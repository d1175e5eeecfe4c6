"""Can this file be trained on, and which of its rows cannot: looked at once, then read to its end.

What a tokenizer is needed for (rows that are too long, what is trained of them) is added by services/datasets/audit.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from services.datasets import shape
from services.datasets.files import open_file
from services.datasets.formats import Format, Task, detect
from services.datasets.report import Report, Stage
from services.datasets.rows import Fault, Row
from services.datasets.scan import Progress, Stop, past_beginning, scan
from services.datasets.tally import Counts, Look
from services.datasets.turns import Unusable, turns_of
from services.datasets.verdict import make_report

_SAMPLED = 100
"""Rows the format is decided from."""


def look(path: Path, *, task: Task = "sft", columns: Mapping[str, str] | None = None) -> Look:
    """Read the beginning of ``path``; ``columns`` is a ``--columns`` of the person's own.

    Takes under a second, whatever the size. Raises Refused("dataset_unreadable").
    """
    file = open_file(path)
    learnt: shape.Shape | None = None
    if file.reader in ("json", "array"):
        learnt = shape.JsonShape(grows=file.reader == "array")
    elif file.reader == "csv":
        learnt = shape.CsvShape()
    names: dict[str, None] = {}
    sample: list[Row] = []
    start = 0
    for number, item in file.rows():
        row = item.row if isinstance(item, Fault) else item
        if past_beginning(file, number, start) or (learnt is None and number > _SAMPLED):
            break
        start = file.consumed
        if row is None:
            continue
        names.update(dict.fromkeys(row))
        if learnt is not None:
            learnt.learn(row)
        if len(sample) < _SAMPLED:
            sample.append(row)
    file.consumed = 0
    form = detect(tuple(names), sample, task=task, given=columns)
    return Look(file, tuple(names), form, learnt, len(sample), sum(_reads(row, form) for row in sample))


def _reads(row: Row, form: Format) -> bool:
    """Whether a conversation comes out of ``row``; its rejected side is another matter."""
    try:
        return form.kind != "none" and bool(turns_of(row, replace(form, kept={})))
    except Unusable:
        return False


@dataclass(frozen=True)
class Checked:
    """A file that was read: what is to be said of it, and what its further stages go on from."""

    report: Report
    counts: Counts
    form: Format
    typed: Mapping[str, str]
    """Columns whose text the loader turns into something else -> "number", "bool" or "date"."""


def check(path: Path, **options: Any) -> Report:
    """The report alone; see ``inspect``."""
    return inspect(path, **options).report


def inspect(
    path: Path,
    *,
    task: Task = "sft",
    columns: Mapping[str, str] | None = None,
    template: str | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    stop: Stop | None = None,
) -> Checked:
    """Read ``path`` to its end (or ``limit`` rows, or until ``stop()``) and say what can be trained on.

    ``template`` is the model's chat template where it is known: some need more settings than others. ``progress``
    is called with the part done, 0 to 1. Raises Refused("dataset_unreadable") and Failed("check_failed").
    """
    began = time.monotonic()
    seen = look(path, task=task, columns=columns)
    looked = time.monotonic()
    counts, complete = scan(seen, task, limit=limit, progress=progress, stop=stop)
    stages = (
        Stage("look", round(looked - began, 3), seen.sampled),
        Stage("scan", round(time.monotonic() - looked, 3), counts.rows),
    )
    report = make_report(seen, counts, task, complete=complete, template=template, stages=stages)
    return Checked(report, counts, seen.form, seen.shape.typed() if seen.shape is not None else {})
