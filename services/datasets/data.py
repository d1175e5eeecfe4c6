"""The data sets of a spec, as ms-swift is to load them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.datasets.check import check
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
READS_ITS_OWN_WAY = ("columns", "custom_register_path", "custom_dataset_info", "external_plugins")
"""Arguments with which a person tells ms-swift how to read a file: then its verdict is theirs."""


def read_data(spec: TrainSpec, settings: Settings) -> Data:
    """Find every data set of ``spec``.

    Raises Refused("dataset_none") where there is none, "sample_without_name", "dataset_blocked" for a file that
    ms-swift would stop at or learn nothing from, and as ``parse_source`` does.
    """
    if not any(text.strip() for text in spec.dataset) and not spec.args.get("cached_dataset"):
        raise Refused("dataset_none")
    arguments: list[str] = []
    files: dict[str, str] = {}
    added: dict[str, Any] = {}
    counts: list[int | None] = []
    for text in spec.dataset:
        source = parse_source(text, settings)
        if source.kind == "sample":
            if not (spec.model_name.strip() and spec.model_author.strip()):
                raise Refused("sample_without_name")
            files[SAMPLE_FILE] = sample_rows(spec.model_name, spec.model_author)
            arguments.append(Slot("{run}/" + SAMPLE_FILE))
            counts.append(SAMPLE_ROWS)
            continue
        report = _report(source, spec)
        if report is not None and report.verdict == "blocked":
            first = next(finding for finding in report.findings if finding.level == "blocked")
            reason = Key(f"dataset.finding.{first.code}", **first.gaps())
            raise Refused("dataset_blocked", path=text, reason=reason)
        if report is not None:
            _add(added, report.settings)
        arguments.append(argument_for(source, settings))
        counts.append(source.count or (report.rows if report is not None and report.complete else None))
    known = [count for count in counts if count is not None]
    return Data(tuple(arguments), sum(known) if len(known) == len(counts) else None, files, added)


def checked(path: Path, task: str = "sft") -> Report:
    """The check of a file, remembered for as long as the file stays as it is."""
    stat = path.stat()
    return _checked(path, task, stat.st_size, stat.st_mtime_ns)


def _report(source: Source, spec: TrainSpec) -> Report | None:
    """The check of a file, None where it is not for us to judge or was not made yet."""
    if source.path is None or spec.command == "rlhf" or set(READS_ITS_OWN_WAY) & spec.args.keys():
        return None
    return checked(source.path, spec.command)


def _add(settings: dict[str, Any], more: Mapping[str, Any]) -> None:
    """ms-swift applies ``--columns`` to every file, so two files may not want different things of it."""
    columns = {**settings.get("columns", {})}
    for column, role in more.get("columns", {}).items():
        if columns.setdefault(column, role) != role:
            raise Refused("dataset_columns_differ", column=column)
    settings |= more
    if columns:
        settings["columns"] = columns


@lru_cache(maxsize=64)
def _checked(path: Path, task: Any, size: int, modified_ns: int) -> Report:
    return check(path, task=task, limit=FIRST_ROWS if size > CHECKED_AT_ONCE_BYTES else None)

