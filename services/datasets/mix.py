"""Several data sets as one table: how many rows of each, what is kept for validation, and the totals.

The rules are ms-swift's own (``dataset_meta.py`` post_process, ``data_args.py``): #N takes a random sample of N rows,
repeating rows where there are fewer; a split takes at least one row from every data set; a validation file, or
streaming, switches the split off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from services.datasets.files import stamp
from services.datasets.hub import downloaded
from services.datasets.sample import SAMPLE_ROWS
from services.datasets.sources import Source, parse_source
from services.errors import Key, Refused, TuneDeskError
from services.settings import Settings
from services.specs import TrainSpec

LARGE_BYTES = 50_000_000_000
"""From here on streaming is offered: ms-swift first writes all rows to its cache as Arrow, twice over."""

State = Literal["ready", "not_downloaded", "incomplete", "refused"]


@dataclass(frozen=True)
class MixRow:
    """One data set of the mix. None where a number is not known yet."""

    source: str
    state: State
    rows: int | None = None
    """In the data set."""
    asked: int | None = None
    """``#N``."""
    taken: int | None = None
    """For training."""
    held_out: int | None = None
    """For validation."""
    tokens: int | None = None
    """Of the rows taken."""
    bytes: int | None = None
    problem: TuneDeskError | None = None
    """Why it is refused."""


@dataclass(frozen=True)
class Mix:
    """The table and what stands below it."""

    rows: tuple[MixRow, ...]
    validation: tuple[MixRow, ...]
    """Files of their own for validation."""
    total: int | None
    """Rows to train on in an epoch."""
    validation_total: int | None
    tokens: int | None
    streaming: bool
    notes: tuple[Key, ...]
    """What to tell, as keys ``dataset.mix.…``."""


@dataclass(frozen=True)
class Share:
    """How ms-swift divides one data set."""

    taken: int
    held_out: int = 0


def share(rows: int, asked: int | None, ratio: float, *, streaming: bool = False) -> Share:
    """What of ``rows`` rows is trained on and what is held out. Raises Refused("split_leaves_nothing")."""
    wanted = rows if asked is None else asked
    if streaming:
        return Share(min(rows, wanted))
    if ratio <= 0:
        return Share(wanted)
    if ratio >= 1:
        return Share(0, min(rows, wanted))
    held_out = max(int(min(rows, wanted) * ratio), 1)
    if wanted <= held_out or rows <= held_out:
        raise Refused("split_leaves_nothing", rows=min(rows, wanted))
    return Share(wanted - held_out, held_out)


def mix(
    spec: TrainSpec,
    settings: Settings,
    rows_of: Callable[[Source], int | None],
    tokens_of: Callable[[Source], float | None] = lambda _source: None,
) -> Mix:
    """The table for ``spec``. ``rows_of`` and ``tokens_of`` (mean tokens of a row) say None for what is not known
    yet, so that the table can be shown at once and filled in as files are read.
    """
    wanted = chosen(spec.args)
    listed = [_row(text, settings, wanted, rows_of, tokens_of) for text in spec.dataset if text.strip()]
    validation = [
        _row(text, settings, Chosen(0.0, (), wanted.streaming), rows_of, tokens_of) for text in wanted.validation
    ]
    held_out = _sum(row.taken for row in validation) if validation else _sum(row.held_out for row in listed)
    return Mix(
        rows=tuple(listed),
        validation=tuple(validation),
        total=_sum(row.taken for row in listed),
        validation_total=held_out,
        tokens=_sum(row.tokens for row in listed),
        streaming=wanted.streaming,
        notes=tuple(_notes(listed, spec, wanted)),
    )


@dataclass(frozen=True)
class Chosen:
    """The arguments that say how data is divided."""

    ratio: float
    validation: tuple[str, ...]
    streaming: bool


def chosen(args: Mapping[str, Any]) -> Chosen:
    """As ms-swift settles them: a validation file, or streaming, leaves no split."""
    validation = args.get("val_dataset") or ()
    validation = (validation,) if isinstance(validation, str) else tuple(validation)
    streaming = str(args.get("streaming", "")).lower() == "true"
    try:
        ratio = float(args.get("split_dataset_ratio") or 0)
    except (TypeError, ValueError):
        ratio = 0.0
    return Chosen(0.0 if validation or streaming else ratio, tuple(str(text) for text in validation), streaming)


def _row(
    text: str,
    settings: Settings,
    wanted: Chosen,
    rows_of: Callable[[Source], int | None],
    tokens_of: Callable[[Source], float | None],
) -> MixRow:
    try:
        source = parse_source(text, settings)
        if source.hub is not None and source.path is None:
            torn = downloaded(source.hub, settings) is not None
            return MixRow(text, "incomplete" if torn else "not_downloaded", asked=source.count)
        rows = SAMPLE_ROWS if source.kind == "sample" else rows_of(source)
        part = None if rows is None else share(rows, source.count, wanted.ratio, streaming=wanted.streaming)
    except TuneDeskError as error:
        return MixRow(text, "refused", problem=error)
    mean = tokens_of(source)
    return MixRow(
        text,
        "ready",
        rows=rows,
        asked=source.count,
        taken=None if part is None else part.taken,
        held_out=None if part is None else part.held_out,
        tokens=None if part is None or mean is None else round(part.taken * mean),
        bytes=_size(source.path),
    )


def _notes(rows: list[MixRow], spec: TrainSpec, wanted: Chosen) -> list[Key]:
    notes = [
        Key("dataset.mix.repeats", source=row.source, rows=row.rows, asked=row.asked)
        for row in rows
        if row.rows is not None and row.asked is not None and row.asked > row.rows and not wanted.streaming
    ]
    given = spec.args.get("split_dataset_ratio")
    if given and float(given) > 0 and wanted.ratio == 0:
        notes.append(Key("dataset.mix.split_off_streaming" if wanted.streaming else "dataset.mix.split_off_file"))
    if wanted.streaming and not spec.args.get("max_steps"):
        notes.append(Key("dataset.mix.streaming_needs_steps"))
    size = sum(row.bytes or 0 for row in rows)
    if size > LARGE_BYTES and not wanted.streaming:
        notes.append(Key("dataset.mix.streaming_offered", gib=round(size / (1 << 30))))
    return notes


def _sum(numbers: Any) -> int | None:
    found = list(numbers)
    return None if None in found else sum(found)


def _size(path: Path | None) -> int | None:
    try:
        return None if path is None else stamp(path)[0]
    except OSError:
        return None
