"""The rows of a data set of any size to leaf through: by page, by row number, by text."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from threading import Lock

import orjson

from services.datasets.files import open_file, stamp, unreadable
from services.datasets.formats import Format, Task, detect
from services.datasets.preview import as_conversation
from services.datasets.records import Item, Watch, records_of
from services.datasets.report import Turn
from services.datasets.rows import Fault, Row
from services.errors import Refused

_LONGEST_RAW = 20_000
"""Characters of a raw record that are shown."""
_SAMPLED = 100
_KEPT_OPEN = 8

Progress = Callable[[float], None]
Stop = Callable[[], bool]


@dataclass(frozen=True)
class PageRow:
    """One row to be shown: the record as it stands in the file beside the conversation ms-swift makes of it."""

    number: int
    raw: str
    """Indented JSON; never markup."""
    turns: tuple[Turn, ...] = ()
    fault: str = ""
    """For a line that is no whole row: the code of its finding."""
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Rows from ``start`` on; ``total`` is None until the file has been read to its end."""

    start: int
    rows: tuple[PageRow, ...]
    total: int | None
    last: bool
    """No row comes after these."""


class Pages:
    """One data set opened for leafing. Safe to use from several threads."""

    def __init__(self, path: Path, form: Format | None = None, task: Task = "sft") -> None:
        """``form``: how its rows are read; default: as found. Raises Refused("dataset_unreadable")."""
        self.path = path
        self.file = open_file(path)
        self._records = records_of(self.file)
        self.form = form or self._detected(task)

    @property
    def total(self) -> int | None:
        return self._records.total

    def page(self, start: int, count: int, *, progress: Progress | None = None, stop: Stop | None = None) -> Page:
        """``count`` rows from row ``start`` (1-based). Raises Refused("pages_stopped") after ``stop()``."""
        start = max(1, start)
        try:
            items = list(islice(self._records.items(start, _watch(progress, stop)), count + 1))
        except OSError as error:
            raise unreadable(self.path, error) from error
        rows = tuple(self._shown(number, item) for number, item in items[:count])
        return Page(start, rows, self._records.total, last=len(items) <= count)

    def search(
        self, text: str, start: int = 1, *, progress: Progress | None = None, stop: Stop | None = None
    ) -> Iterator[int]:
        """The numbers of the rows from ``start`` on whose record holds ``text``, as they are found; upper and lower
        case of plain letters are the same. Raises Refused("pages_stopped") after ``stop()``."""
        if not text:
            return
        watch = _watch(progress, stop)
        needles = {json.dumps(text, ensure_ascii=escaped)[1:-1].encode().lower() for escaped in (False, True)}
        lines = self._records.texts(max(1, start), watch)
        if lines is None:
            lines = _packed(self._records.items(max(1, start), watch))
        try:
            for number, line in lines:
                lower = line.lower()
                if any(needle in lower for needle in needles) and number >= start:
                    yield number
        except OSError as error:
            raise unreadable(self.path, error) from error

    def count(self, *, progress: Progress | None = None, stop: Stop | None = None) -> int:
        """How many rows there are, reading to the end once."""
        if self._records.total is None:
            for _ in self._records.items(1 << 60, _watch(progress, stop)):
                pass
        return self._records.total or 0

    def _shown(self, number: int, item: Row | Fault) -> PageRow:
        if isinstance(item, Fault):
            raw = _raw(item.row) if item.row is not None else str(item.values.get("text", ""))
            return PageRow(number, raw, fault=item.code, values={"line": item.line} | dict(item.values))
        return PageRow(number, _raw(item), tuple(as_conversation(item, self.form)))

    def _detected(self, task: Task) -> Format:
        first = list(islice(self._records.items(1, lambda _part: None), _SAMPLED))
        sample = [item for _, item in first if not isinstance(item, Fault)]
        columns = dict.fromkeys(name for row in sample for name in row)
        return detect(tuple(columns), sample, task=task)


_open: OrderedDict[tuple[Path, int, int, Task], Pages] = OrderedDict()
_lock = Lock()


def pages_of(path: Path, task: Task = "sft") -> Pages:
    """``Pages`` for ``path``, kept for as long as the file stays as it is. Raises Refused("dataset_unreadable")."""
    try:
        key = (path, *stamp(path), task)
    except OSError as error:
        raise unreadable(path, error) from error
    with _lock:
        if key in _open:
            _open.move_to_end(key)
            return _open[key]
    pages = Pages(path, task=task)
    with _lock:
        _open[key] = pages
        while len(_open) > _KEPT_OPEN:
            _open.popitem(last=False)
    return pages


def _watch(progress: Progress | None, stop: Stop | None) -> Watch:
    def watch(part: float) -> None:
        if progress is not None:
            progress(min(1.0, part))
        if stop is not None and stop():
            raise Refused("pages_stopped")

    return watch


def _packed(items: Iterator[Item]) -> Iterator[tuple[int, bytes]]:
    for number, item in items:
        row = item.row if isinstance(item, Fault) else item
        if row is not None:
            yield number, orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS)


def _raw(row: Row) -> str:
    option = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS
    text = orjson.dumps(row, default=str, option=option).decode(errors="replace")
    return text if len(text) <= _LONGEST_RAW else text[:_LONGEST_RAW] + " …"
