"""Rows on their way into a new file of JSON lines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from services.datasets.rows import Row
from services.datasets.shape import FIRST_BYTES


@dataclass
class Copy:
    """JSON lines on their way to disk.

    The loader takes the columns from the first 10 MiB and stops at one that comes later, so rows with such a column
    are brought to the beginning at last.
    """

    output: IO[bytes]
    rows: int = 0
    _known: set[str] = field(default_factory=set)
    _late: list[tuple[int, int]] = field(default_factory=list)
    _at: int = 0

    def add(self, row: Row) -> None:
        line = packed(row, orjson.OPT_APPEND_NEWLINE)
        names = {name for name, value in row.items() if value is not None}
        names |= {"loss of a turn" for turn in row.get("messages") or () if isinstance(turn, dict) and "loss" in turn}
        if not names <= self._known:
            self._known |= names
            if self._at >= FIRST_BYTES:
                self._late.append((self._at, len(line)))
        self.output.write(line)
        self.rows, self._at = self.rows + 1, self._at + len(line)

    def put_first(self, path: Path) -> None:
        """Rewrite ``path`` with the rows that hold a late column before all others."""
        if not self._late:
            return
        again = path.with_name(path.name + ".again")
        try:
            with path.open("rb") as source, again.open("wb") as target:
                for start, length in self._late:
                    source.seek(start)
                    target.write(source.read(length))
                source.seek(0)
                for start, length in self._late:
                    _copy_bytes(source, target, start - source.tell())
                    source.seek(length, os.SEEK_CUR)
                shutil.copyfileobj(source, target, 1 << 20)
            again.replace(path)
        finally:
            again.unlink(missing_ok=True)


def _copy_bytes(source: IO[bytes], target: IO[bytes], length: int) -> None:
    while length > 0 and (block := source.read(min(length, 1 << 20))):
        target.write(block)
        length -= len(block)


def packed(row: Mapping[str, Any], option: int = 0) -> bytes:
    """``row`` as JSON in UTF-8."""
    return orjson.dumps(row, default=_plain, option=option | orjson.OPT_NON_STR_KEYS)


def _plain(value: object) -> object:
    """What tables hold and JSON does not: bytes, decimals."""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
