"""A check to be watched: the first rows at once, how far each stage has come, and at last what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, Literal, Protocol
from uuid import uuid4

from services.datasets.audit import Audit
from services.datasets.audited import Outcome
from services.datasets.check import Checked, check, inspect
from services.datasets.formats import Task
from services.datasets.report import Report
from services.datasets.sample import sample_rows
from services.datasets.scan import Stopped
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
    """About the first rows; from the stage audit on, and once ``done``, about all that was read."""
    part: float
    """Of the stage, 0 to 1."""
    done: bool
    stage: Literal["look", "scan", "audit"] = "scan"
    audit: Audit | None = None
    """Once ``done``, where tokens were counted."""
    checked: Checked | None = None
    """From the stage audit on: what a further stage can go on from."""


class Finish(Protocol):
    """The last stage, for example ``Audits.audit`` with its model."""

    def __call__(
        self, checked: Checked, /, *, progress: Callable[[str, float], None], stop: Callable[[], bool]
    ) -> Outcome: ...


def review(
    source: Source,
    settings: Settings,
    stop: Event,
    *,
    task: Task = "sft",
    columns: Mapping[str, str] | None = None,
    template: str | None = None,
    finish: Finish | None = None,
) -> Iterator[Step]:
    """Check ``source`` (the sample or a file), with a step every quarter of a second.

    ``columns`` is a mapping of the person's own, ``template`` the chat template of the model, ``finish`` what counts
    the tokens. When ``stop`` is set, from any thread, the last report is about what was read until then; closing the
    iterator ends the check too. Raises Refused("dataset_unreadable"), Failed("cannot_write") and "check_failed".
    """
    path = source.path or _sample_file(settings)
    as_meant = _without_repeats if source.path is None else _as_it_is
    part = 0.0

    def watch(*done: Any) -> None:
        nonlocal part
        part = float(done[-1])

    options: dict[str, Any] = {"task": task, "columns": columns, "template": template}
    with ThreadPoolExecutor(1, thread_name_prefix="dataset-check") as pool:
        try:
            reading = pool.submit(inspect, path, progress=watch, stop=stop.is_set, **options)
            first = None
            while not _ended(reading):
                first = first or as_meant(check(path, limit=FIRST_ROWS, **options))
                yield Step(first, part, done=False)
            checked = replace(reading.result(), report=as_meant(reading.result().report))
            if finish is None or stop.is_set():
                yield Step(checked.report, 1.0, done=True, checked=checked)
                return
            part = 0.0
            counting = pool.submit(finish, checked, progress=watch, stop=stop.is_set)
            while not _ended(counting):
                yield Step(checked.report, part, done=False, stage="audit", checked=checked)
        finally:
            stop.set()
    last = _last(checked, counting)
    yield replace(last, report=as_meant(last.report))


def _as_it_is(report: Report) -> Report:
    return report


def _without_repeats(report: Report) -> Report:
    """The sample says its most important sentences several times, on purpose."""
    findings = tuple(one for one in report.findings if one.code not in ("rows_repeated", "rows_similar"))
    return replace(report, findings=findings)


def _last(checked: Checked, counting: Future[Outcome]) -> Step:
    try:
        outcome = counting.result()
    except Stopped:
        outcome = Outcome(checked.report)
    return Step(outcome.report, 1.0, done=True, stage="audit", audit=outcome.audit, checked=checked)


def _ended(work: Future[Any]) -> bool:
    return not wait([work], timeout=EVERY_S).not_done


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
