"""The data sets of a spec, as ms-swift is to load them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.datasets.check import check
from services.datasets.files import stamp, unreadable
from services.datasets.formats import Task, task_of
from services.datasets.mix import Chosen, chosen, share
from services.datasets.report import Report
from services.datasets.sample import SAMPLE_ROWS, sample_rows
from services.datasets.sources import Source, argument_for, parse_source
from services.errors import Key, Refused
from services.plan import Slot
from services.settings import Settings
from services.specs import TrainSpec
from services.swift.commands import Data

SAMPLE_FILE = "sample.jsonl"
CHECKED_AT_ONCE_BYTES = 30_000_000
"""Of a larger file only the first rows are read while a form is being filled in."""
FIRST_ROWS = 2_000
READS_ITS_OWN_WAY = ("custom_register_path", "custom_dataset_info", "external_plugins")
"""Arguments with which a person tells ms-swift how to read a file: then its verdict is theirs."""


def read_data(spec: TrainSpec, settings: Settings, *, template: str | None = None) -> Data:
    """Find every data set of ``spec``; ``template`` is the model's chat template where it is known.

    Raises Refused("dataset_none") where there is none, "sample_without_name", "dataset_blocked" for a file that
    ms-swift would stop at or learn nothing from, "dataset_columns_differ" and "dataset_env_differ" for files that
    need different settings, "split_leaves_nothing", and as ``parse_source`` and ``argument_for`` do.
    """
    if not any(text.strip() for text in spec.dataset) and not spec.args.get("cached_dataset"):
        raise Refused("dataset_none")
    wanted = chosen(spec.args)
    reading = _Reading(spec, settings, template)
    counts = [reading.take(text, wanted) for text in spec.dataset if text.strip()]
    arguments = tuple(reading.arguments)
    reading.arguments.clear()
    for text in wanted.validation:
        reading.take(text, Chosen(0.0, (), wanted.streaming))
    known = [count for count in counts if count is not None]
    return Data(
        arguments,
        sum(known) if len(known) == len(counts) else None,
        reading.files,
        reading.added,
        reading.env,
        tuple(reading.arguments),
    )


@dataclass
class _Reading:
    """The data sets of one spec, one after the other."""

    spec: TrainSpec
    settings: Settings
    template: str | None
    arguments: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    added: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    def take(self, text: str, wanted: Chosen) -> int | None:
        """Add one data set; how many of its rows are trained on, None where that is not known."""
        source = parse_source(text, self.settings)
        if source.kind == "sample":
            self._take_sample(source)
            return share(SAMPLE_ROWS, source.count, wanted.ratio, streaming=wanted.streaming).taken
        report = self._report(source)
        if report is not None:
            self._settle(text, report)
        self.arguments.append(argument_for(source, self.settings))
        if report is None or not report.complete:
            return source.count if wanted.ratio == 0 else None
        return share(report.rows, source.count, wanted.ratio, streaming=wanted.streaming).taken

    def _take_sample(self, source: Source) -> None:
        if not (self.spec.model_name.strip() and self.spec.model_author.strip()):
            raise Refused("sample_without_name")
        self.files[SAMPLE_FILE] = sample_rows(self.spec.model_name, self.spec.model_author)
        count = "" if source.count is None else f"#{source.count}"
        self.arguments.append(Slot("{run}/" + SAMPLE_FILE + count))

    def _report(self, source: Source) -> Report | None:
        """The check of what is here; None where it is not for us to judge or was not made yet."""
        if source.path is None or set(READS_ITS_OWN_WAY) & self.spec.args.keys():
            return None
        columns = _columns(self.spec.args.get("columns"))
        return checked(source.path, task_of(self.spec.command, self.spec.args), self.template, columns)

    def _settle(self, text: str, report: Report) -> None:
        """Take over what the file needs. ms-swift applies its settings to every file, so two may not differ."""
        if report.verdict == "blocked":
            first = next(finding for finding in report.findings if finding.level == "blocked")
            raise Refused("dataset_blocked", path=text, reason=Key(f"dataset.finding.{first.code}", **first.gaps()))
        columns = {**self.added.get("columns", {})}
        for column, role in report.settings.get("columns", {}).items():
            if columns.setdefault(column, role) != role:
                raise Refused("dataset_columns_differ", column=column)
        for name, value in report.env.items():
            if self.env.setdefault(name, value) != value:
                raise Refused("dataset_env_differ", name=name)
        self.added |= report.settings
        if columns:
            self.added["columns"] = columns


def checked(
    path: Path, task: Task = "sft", template: str | None = None, columns: Mapping[str, str] | None = None
) -> Report:
    """The check of a file or folder, remembered for as long as it stays as it is. Raises Refused as ``check`` does."""
    try:
        size, modified = stamp(path)
        changed = path.stat().st_ctime_ns
    except OSError as error:
        raise unreadable(path, error) from error
    pairs = None if columns is None else tuple(columns.items())
    return _checked(path, task, template, pairs, size, (modified, changed))


def _columns(given: Any) -> dict[str, str] | None:
    """A ``--columns`` of the person's own."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return None
    return {str(name): str(role) for name, role in given.items()} if isinstance(given, dict) and given else None


@lru_cache(maxsize=64)
def _checked(
    path: Path,
    task: Task,
    template: str | None,
    columns: tuple[tuple[str, str], ...] | None,
    size: int,
    _times: tuple[int, int],
) -> Report:
    limit = FIRST_ROWS if size > CHECKED_AT_ONCE_BYTES else None
    return check(path, task=task, limit=limit, template=template, columns=None if columns is None else dict(columns))
