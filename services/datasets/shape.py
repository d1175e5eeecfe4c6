"""What the beginning of a file fixes for the rest of it.

The loader decides the columns and their types from the first part it reads, and stops the whole run at a later
row that does not fit: JSON lines from the first 10 MiB, CSV from the first 10,000 rows.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

import orjson

from services.datasets.rows import Row

FIRST_BYTES = 10 << 20
FIRST_ROWS = 10_000
_MOST_SIGNATURES = 2_000

_INT = re.compile(r"\s*[+-]?\d+\s*")
_FLOAT = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*|[+-]?(inf|infinity)", re.IGNORECASE)
_BOOL = re.compile(r"True|TRUE|true|False|FALSE|false")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}(:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?")

Breach = tuple[str, str]
"""(finding code, column)"""


class Shape(Protocol):
    """Learns from the first part, then names what does not fit in the rest."""

    def learn(self, row: Row) -> None: ...
    def breach(self, row: Row) -> Breach | None: ...
    def typed(self) -> dict[str, str]:
        """Columns whose text the loader turns into something else -> "number", "bool" or "date"."""

    def as_loaded(self, row: Row) -> Row:
        """``row`` with the texts the loader takes for something else."""


class JsonShape:
    """Columns, types and the keys of nested objects."""

    def __init__(self, *, grows: bool = False) -> None:
        """``grows``: an array, which the loader reads whole, so that nothing comes too late."""
        self._grows = grows
        self._types: dict[str, set[type]] = {}
        self._keys: dict[str, set[frozenset[str]]] = {}
        self._parts: dict[str, dict[str, set[type]]] = {}
        self._mixed: set[str | tuple[str, str]] | None = None
        self._fixed: list[tuple[str, frozenset[str]]] | None = None
        """Columns whose objects all have the same keys, once the first row behind the beginning is judged."""
        self._dated: dict[str, bool] = {}
        self._verdicts: dict[tuple[object, ...], Breach | None] = {}

    def learn(self, row: Row) -> None:
        for name, value in row.items():
            kind = type(value)
            self._types.setdefault(name, set()).add(kind)
            if kind is str and self._dated.get(name, True):
                self._dated[name] = _DATE.fullmatch(value) is not None
            elif kind is list or kind is dict:
                self._learn_parts(name, _objects(value))

    def _learn_parts(self, name: str, objects: list[dict[str, Any]]) -> None:
        keys, parts = self._keys.setdefault(name, set()), self._parts.setdefault(name, {})
        if len(keys) > 1:
            return
        for part in objects:
            keys.add(frozenset(part))
            for key, value in part.items():
                parts.setdefault(key, set()).add(type(value))

    def typed(self) -> dict[str, str]:
        dated = {name for name, all_dates in self._dated.items() if all_dates}
        return {name: "date" for name in dated if self._types[name] <= {str, type(None)}}

    def as_loaded(self, row: Row) -> Row:
        """Where a column (or a key of its objects) holds several kinds of values, a text such as "5" is a number."""
        if self._mixed is None:
            self._mixed = {name for name, kinds in self._types.items() if _are_mixed(kinds)}
            for name, keys in self._keys.items():
                if len(keys) == 1:
                    self._mixed.update((name, key) for key, kinds in self._parts[name].items() if _are_mixed(kinds))
        if not self._mixed:
            return row
        return {name: self._loaded(name, value) for name, value in row.items()}

    def _loaded(self, name: str, value: Any) -> Any:
        mixed = self._mixed or set()
        if name in mixed:
            return _value(value)
        keys = {entry[1] for entry in mixed if isinstance(entry, tuple) and entry[0] == name}
        if not keys or not isinstance(value, list):
            return value
        return [
            {key: _value(part[key]) if key in keys else part[key] for key in part} if type(part) is dict else part
            for part in value
        ]

    def breach(self, row: Row) -> Breach | None:
        if self._grows:
            return None
        signature = (*row, *map(type, row.values()))
        if signature not in self._verdicts:
            if len(self._verdicts) >= _MOST_SIGNATURES:
                self._verdicts.clear()
            self._verdicts[signature] = self._judge(row)
        return self._verdicts[signature] or self._nested(row)

    def _judge(self, row: Row) -> Breach | None:
        for name, value in row.items():
            if name not in self._types:
                return "late_column", name
            kinds = self._types[name] - {type(None)}
            if value is not None and not _fits(type(value), kinds):
                return "late_type", name
        return None

    def _nested(self, row: Row) -> Breach | None:
        if self._fixed is None:
            alike = (name for name, keys in self._keys.items() if len(keys) == 1)
            alike = (name for name in alike if len(self._types[name] - {type(None)}) == 1)
            self._fixed = [(name, next(iter(self._keys[name]))) for name in alike]
        for name, known in self._fixed:
            value = row.get(name)
            for part in value if type(value) is list else _objects(value):
                if type(part) is dict and not part.keys() <= known:
                    return "late_key", name
        return None


class CsvShape:
    """Columns in which every cell of the beginning is a number or a truth value."""

    def __init__(self) -> None:
        self._open: dict[str, re.Pattern[str]] | None = None
        self.rows = 0

    def learn(self, row: Row) -> None:
        if self._open is None:
            self._open = {name: _INT for name in row}
        self.rows += 1
        for name in list(self._open):
            cell = row.get(name, "")
            if self._open[name].fullmatch(cell):
                continue
            if self._open[name] is _INT and _FLOAT.fullmatch(cell):
                self._open[name] = _FLOAT
            elif self.rows == 1 and _BOOL.fullmatch(cell):
                self._open[name] = _BOOL
            else:
                del self._open[name]

    def typed(self) -> dict[str, str]:
        return {name: "bool" if pattern is _BOOL else "number" for name, pattern in (self._open or {}).items()}

    def as_loaded(self, row: Row) -> Row:
        return row

    def breach(self, row: Row) -> Breach | None:
        for name, pattern in (self._open or {}).items():
            if not pattern.fullmatch(row.get(name, "")):
                return "late_type", name
        return None


def _fits(kind: type, kinds: set[type]) -> bool:
    if float in kinds and kinds <= {int, float}:
        return kind in (int, float)
    if len(kinds) != 1:
        return len(kinds) > 1
    return kinds == {str} or kind in kinds


def _are_mixed(kinds: set[type]) -> bool:
    return str in kinds and not kinds <= {str, type(None)}


def _value(cell: Any) -> Any:
    try:
        return orjson.loads(cell) if isinstance(cell, str) else cell
    except orjson.JSONDecodeError:
        return cell


def _objects(value: Any) -> list[dict[str, Any]]:
    if type(value) is dict:
        return [value]
    return [part for part in value if type(part) is dict] if type(value) is list else []
