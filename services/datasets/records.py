"""Getting to a row of a file without reading all that comes before it again: places remembered as a file is read."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from threading import RLock
from typing import IO, Protocol

from services.datasets import csv_rows, json_rows, tables, text_rows
from services.datasets.files import DataFile
from services.datasets.rows import Fault, Row

EVERY_ROWS = 1_000
"""Rows between two remembered places."""
_RECENT = 2_000
Watch = Callable[[float], None]
"""Told how much of the file has been read (0 to 1); raises to stop."""
Item = tuple[int, Row | Fault]


class Records(Protocol):
    """The rows of one file, from any of them on."""

    total: int | None
    """How many there are, once that is known."""

    def items(self, start: int, watch: Watch) -> Iterator[Item]:
        """(row number, row or Fault) from row ``start`` (1-based) to the end."""

    def texts(self, start: int, watch: Watch) -> Iterator[tuple[int, bytes]] | None:
        """(row number, the bytes of its line) where rows are lines; None where they are not."""


def records_of(file: DataFile) -> Records:
    """The quickest way there is for ``file``."""
    if file.parts:
        return Chained([records_of(part) for part in file.parts])
    if file.packing or file.old_line_ends or not file.encoding.startswith("utf-8"):
        return InOrder(file)
    if file.reader in ("json", "csv", "text"):
        return Lines(file)
    return Batches(file) if file.reader in ("parquet", "arrow") else InOrder(file)


class Lines:
    """JSON lines, CSV and text in UTF-8: the place of every thousandth row is kept, 24 bytes each."""

    def __init__(self, file: DataFile) -> None:
        self.total: int | None = None
        self._file = file
        self._rows, self._offsets, self._line_numbers = array("q", [0]), array("q", [0]), array("q", [0])
        self._header: csv_rows.Header | None = None
        self._lock = RLock()

    def items(self, start: int, watch: Watch) -> Iterator[Item]:
        place = self._reach(start, watch)
        if place is None:
            return
        with self._file.path.open("rb", buffering=1 << 18) as raw:
            raw.seek(self._offsets[place])
            for number, item in enumerate(self._read(raw, place), self._rows[place] + 1):
                if number >= start:
                    yield number, item
                if number % EVERY_ROWS == 0:
                    watch(raw.tell() / max(1, self._file.size))

    def texts(self, start: int, watch: Watch) -> Iterator[tuple[int, bytes]] | None:
        return self._json_texts(start, watch) if self._file.reader == "json" else None

    def _json_texts(self, start: int, watch: Watch) -> Iterator[tuple[int, bytes]]:
        place = self._reach(start, watch)
        if place is None:
            return
        with self._file.path.open("rb", buffering=1 << 20) as raw:
            raw.seek(self._offsets[place])
            number = self._rows[place]
            for line in json_rows.bounded(raw):
                rows = _rows_in(line)
                if rows and number + rows >= start:
                    yield number + 1, line
                if number // EVERY_ROWS != (number + rows) // EVERY_ROWS:
                    watch(raw.tell() / max(1, self._file.size))
                number += rows

    def _reach(self, start: int, watch: Watch) -> int | None:
        """The last known place before row ``start``, reading on as far as needed; None behind the end."""
        with self._lock:
            if self.total is None and self._rows[-1] + EVERY_ROWS < start:
                self._read_on(start, watch)
            if self.total is not None and start > self.total:
                return None
            return bisect_right(self._rows, start - 1) - 1

    def _read_on(self, start: int, watch: Watch) -> None:
        """Remember places until row ``start`` lies less than a thousand rows behind the last."""
        with self._file.path.open("rb", buffering=1 << 20) as raw:
            raw.seek(self._offsets[-1])
            number = self._rows[-1]
            for rows, offset, line in self._positions(raw):
                number += rows
                if number - self._rows[-1] >= EVERY_ROWS:
                    self._rows.append(number)
                    self._offsets.append(offset)
                    self._line_numbers.append(line)
                    watch(offset / max(1, self._file.size))
                    if number + EVERY_ROWS >= start:
                        return
            self.total = number

    def _positions(self, raw: IO[bytes]) -> Iterator[tuple[int, int, int]]:
        """(rows, the place behind them, lines before that place), a line or record at a time, from the last place."""
        place = len(self._rows) - 1
        offset, line = self._offsets[place], self._line_numbers[place]
        if self._file.reader == "csv":
            texts = text_rows.Decoded(raw, line)
            for _ in csv_rows.read(texts, self._file.delimiter, self._header_at(place), line):
                yield 1, offset + texts.consumed, texts.number
            return
        counted = _rows_in if self._file.reader == "json" else _one
        for text in json_rows.bounded(raw):
            offset, line = offset + len(text), line + 1
            yield counted(text), offset, line

    def _read(self, raw: IO[bytes], place: int) -> Iterator[Row | Fault]:
        line = self._line_numbers[place]
        if self._file.reader == "json":
            yield from (item for _, item in json_rows.lines(json_rows.bounded(raw), line))
        elif self._file.reader == "csv":
            texts = text_rows.Decoded(raw, line)
            yield from csv_rows.read(texts, self._file.delimiter, self._header_at(place), line)
        else:
            yield from text_rows.read(text_rows.Decoded(raw, line), line)

    def _header_at(self, place: int) -> csv_rows.Header | None:
        """The table's header, where ``place`` lies behind it."""
        if place and self._header is None:
            with self._file.path.open("rb") as raw:
                self._header = csv_rows.header(text_rows.Decoded(raw), self._file.delimiter)
        return self._header if place else None


def _one(_line: bytes) -> int:
    return 1


def _rows_in(line: bytes) -> int:
    """How many rows a line of JSON lines holds: none when empty, several when objects follow each other."""
    if line.isspace():
        return 0
    if b"}{" in line or b"} {" in line:
        return len(list(json_rows.lines([line])))
    return 1


class Batches:
    """Parquet and Arrow, which know where their rows are."""

    def __init__(self, file: DataFile) -> None:
        self.total: int | None = None
        self._file = file

    def items(self, start: int, watch: Watch) -> Iterator[Item]:
        read = tables.parquet_rows if self._file.reader == "parquet" else tables.arrow_rows
        with self._file.path.open("rb") as raw:
            for number, item in enumerate(read(raw, start - 1), start):
                yield number, item
                if number % EVERY_ROWS == 0:
                    watch(raw.tell() / max(1, self._file.size))
            if self.total is None:
                self.total = tables.count(raw)

    def texts(self, start: int, watch: Watch) -> Iterator[tuple[int, bytes]] | None:
        return None


class InOrder:
    """What can only be read from its beginning: the reading goes on where it was, and the last rows are kept."""

    def __init__(self, file: DataFile) -> None:
        self.total: int | None = None
        self._file = file
        self._going: Iterator[Item] | None = None
        self._recent: deque[Item] = deque(maxlen=_RECENT)
        self._next = 1
        self._lock = RLock()

    def items(self, start: int, watch: Watch) -> Iterator[Item]:
        with self._lock:
            for number in range(start, 1 << 62):
                item = self._item(number, watch)
                if item is None:
                    return
                yield item

    def texts(self, start: int, watch: Watch) -> Iterator[tuple[int, bytes]] | None:
        return None

    def _item(self, wanted: int, watch: Watch) -> Item | None:
        if self.total is not None and wanted > self.total:
            return None
        if self._recent and self._recent[0][0] <= wanted < self._next:
            return self._recent[wanted - self._recent[0][0]]
        if self._going is None or wanted < self._next:
            self._going, self._next = self._file.rows(), 1
            self._recent.clear()
        for number, item in self._going:
            self._recent.append((number, item))
            self._next = number + 1
            if number % EVERY_ROWS == 0:
                watch(self._file.fraction())
            if number == wanted:
                return number, item
        self.total, self._going = self._next - 1, None
        return None


class Chained:
    """The files of a folder, one after the other."""

    def __init__(self, parts: list[Records]) -> None:
        self._parts = parts

    @property
    def total(self) -> int | None:
        totals = [part.total for part in self._parts]
        return sum(total for total in totals if total is not None) if None not in totals else None

    @total.setter
    def total(self, _value: int | None) -> None:
        raise AttributeError("total")

    def items(self, start: int, watch: Watch) -> Iterator[Item]:
        before = 0
        for place, part in enumerate(self._parts):
            within = _share(watch, place, len(self._parts))
            if part.total is not None and start > before + part.total:
                before += part.total
                continue
            number = 0
            for number, item in part.items(max(1, start - before), within):
                yield before + number, item
            before += number if part.total is None else part.total

    def texts(self, start: int, watch: Watch) -> Iterator[tuple[int, bytes]] | None:
        return None


def _share(watch: Watch, place: int, parts: int) -> Watch:
    return lambda part: watch((place + part) / parts)
