"""Rows out of files that keep their data by columns: Parquet, Arrow, and JSON with one list a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

import orjson

from services.datasets.rows import Fault, Row
from services.paths import printable

LARGEST_COLUMNS = 64 << 20
"""Bytes of column-oriented JSON; it can only be read whole."""
_AT_ONCE = 256
"""Rows in memory at a time."""
_FIRST_COLUMN = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:\[(?!\s*\{)|\{\s*"\d+"\s*:)')


def parquet_rows(raw: IO[bytes], skip: int = 0) -> Iterator[Row | Fault]:
    """Parquet by small batches, from the row after ``skip``; pyarrow is loaded only here (the window's memory)."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(raw)
        first = 0
        while first < file.num_row_groups and skip >= file.metadata.row_group(first).num_rows:
            skip -= file.metadata.row_group(first).num_rows
            first += 1
        groups = list(range(first, file.num_row_groups))
        yield from _from(file.iter_batches(batch_size=_AT_ONCE, row_groups=groups), skip)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        yield Fault("parquet_broken", values={"reason": printable(str(error), 120)})


def arrow_rows(raw: IO[bytes], skip: int = 0) -> Iterator[Row | Fault]:
    """Arrow IPC from the row after ``skip``, as a stream (what the datasets library saves) or as a file."""
    import pyarrow

    try:
        yield from _from(_batches(raw), skip)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        yield Fault("arrow_broken", values={"reason": printable(str(error), 120)})


def count(raw: IO[bytes]) -> int:
    """How many rows a Parquet or Arrow file has; 0 where it is damaged."""
    import pyarrow
    import pyarrow.parquet

    raw.seek(0)
    try:
        if raw.read(4) == b"PAR1":
            return int(pyarrow.parquet.ParquetFile(raw).metadata.num_rows)
        raw.seek(0)
        return sum(batch.num_rows for batch in _batches(raw))
    except (pyarrow.ArrowException, OSError, ValueError):
        return 0


def _from(batches: Iterable[Any], skip: int) -> Iterator[Row]:
    for batch in batches:
        for start in range(min(skip, batch.num_rows), batch.num_rows, _AT_ONCE):
            yield from batch.slice(start, _AT_ONCE).to_pylist()
        skip = max(0, skip - batch.num_rows)


def _batches(raw: IO[bytes]) -> Iterator[Any]:
    import pyarrow

    if raw.read(6) != b"ARROW1":
        raw.seek(0)
        yield from pyarrow.ipc.open_stream(raw)
        return
    raw.seek(0)
    reader = pyarrow.ipc.open_file(raw)
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def looks_by_columns(head: bytes) -> bool:
    """Whether JSON that starts so may be one object of columns: its first value is a list of values, or a map
    from "0", "1" … (pandas' ``to_json``)."""
    if not _FIRST_COLUMN.match(head):
        return False
    first, _, more = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    try:
        orjson.loads(first)
    except orjson.JSONDecodeError:
        return True
    return not more.strip()


def read_columns(stream: IO[bytes]) -> dict[str, list[Any]] | None:
    """Column -> its cells, all of one length; None when ``stream`` is something else, or too large for it."""
    text = stream.read(LARGEST_COLUMNS + 1)
    if len(text) > LARGEST_COLUMNS:
        return None
    try:
        value = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or not value:
        return None
    columns = {name: _cells(cells) for name, cells in value.items()}
    lengths = {len(cells) if cells is not None else -1 for cells in columns.values()}
    if len(lengths) != 1 or min(lengths) < 1:
        return None
    filled = {name: cells for name, cells in columns.items() if cells is not None}
    nested = len(filled) == 1 and not all(isinstance(cell, list) for cell in next(iter(filled.values())))
    return None if nested else filled


def column_rows(columns: dict[str, list[Any]]) -> Iterator[Row]:
    """The rows of ``read_columns``."""
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))


def _cells(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        turns = any(isinstance(cell, dict) and {"role", "from"} & cell.keys() for cell in value)
        return None if turns else value
    if isinstance(value, dict) and list(value) == [str(number) for number in range(len(value))]:
        return list(value.values())
    return None
