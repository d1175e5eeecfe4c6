"""Rows spread evenly over a file of unknown length, kept while it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from services.datasets.rows import Row

KEPT = 2_000
"""Rows wanted of a file; of a shorter one all are kept."""
_MOST_BYTES = 64 << 20


@dataclass
class Thinned:
    """Every ``step``-th row, beginning with the first; the step doubles when there are twice too many."""

    step: int = 1
    rows: list[tuple[int, bytes]] = field(default_factory=list)
    """(row number, the row as JSON)"""
    size: int = 0

    def offer(self, number: int, row: Row) -> None:
        if (number - 1) % self.step:
            return
        try:
            text = orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS)
        except (orjson.JSONEncodeError, RecursionError):
            return
        self.rows.append((number, text))
        self.size += len(text)
        while len(self.rows) > 2 * KEPT or (self.size > _MOST_BYTES and len(self.rows) > 1):
            self._thin()

    def append(self, other: Thinned, offset: int) -> None:
        """Add the rows of the next part of the file, which begins ``offset`` rows further on."""
        while self.step < other.step:
            self._thin()
        while other.step < self.step:
            other._thin()
        self.rows += [(number + offset, text) for number, text in other.rows]
        self.size += other.size
        while len(self.rows) > 2 * KEPT or (self.size > _MOST_BYTES and len(self.rows) > 1):
            self._thin()

    def chosen(self, most: int = KEPT) -> list[tuple[int, bytes]]:
        """At most ``most`` of them, in the file's order."""
        if len(self.rows) <= most:
            return list(self.rows)
        return [self.rows[place * len(self.rows) // most] for place in range(most)]

    def _thin(self) -> None:
        self.step *= 2
        self.rows = self.rows[::2]
        self.size = sum(len(text) for _, text in self.rows)
