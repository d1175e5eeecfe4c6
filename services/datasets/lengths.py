"""How long rows are in tokens, and what a max_length does to them."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

Strategy = Literal["delete", "right", "left"]
"""ms-swift's truncation_strategy: drop rows that are too long, cut their end, or cut their beginning."""


@dataclass(frozen=True)
class Cut:
    """What a limit does; row numbers."""

    max_length: int
    strategy: Strategy
    over: tuple[tuple[int, int], ...]
    """(row, tokens) of rows that are longer than the limit."""
    lost: tuple[int, ...]
    """Rows that are dropped, or keep no trained token."""
    cut: tuple[int, ...]
    """Rows that lose a part of what would be trained, with strategy right or left; for delete: with right."""
    empty: tuple[int, ...]
    """Rows that keep no trained token with strategy right or left; for delete: with right."""
    needed: int
    """The max_length that keeps all of it."""


@dataclass(frozen=True)
class Lengths:
    """One entry a row, in the file's order; places and lengths in tokens. Kept as arrays: a million rows are 41 MB."""

    numbers: Sequence[int]
    """Row numbers."""
    tokens: Sequence[int]
    firsts: Sequence[int]
    """Place of the first trained token, from 0; -1: none is trained."""
    lasts: Sequence[int]
    trained: Sequence[int]
    """How many tokens are trained."""
    ends: Sequence[int]
    """1 where an end mark is among the last trained tokens, else 0."""

    def __post_init__(self) -> None:
        for column in fields(self):
            kind = "b" if column.name == "ends" else "q"
            object.__setattr__(self, column.name, array(kind, getattr(self, column.name)))

    @property
    def rows(self) -> int:
        return len(self.tokens)

    @property
    def sum(self) -> int:
        return sum(self.tokens)

    @property
    def mean(self) -> int | None:
        return max(1, round(self.sum / self.rows)) if self.rows else None

    @property
    def longest(self) -> int:
        return max(self.tokens, default=0)

    def cut(self, max_length: int, strategy: Strategy) -> Cut:
        """What ``max_length`` does to these rows."""
        over, lost, cut, empty = [], [], [], []
        for row, length, first, last in zip(self.numbers, self.tokens, self.firsts, self.lasts, strict=True):
            if length <= max_length:
                if first < 0:
                    lost.append(row)
                continue
            over.append((row, length))
            gone = length - max_length if strategy == "left" else 0
            keeps_none = last < gone if strategy == "left" else first >= max_length
            if keeps_none or first < 0:
                empty.append(row)
            elif (first < gone) if strategy == "left" else (last >= max_length):
                cut.append(row)
            if strategy == "delete" or keeps_none or first < 0:
                lost.append(row)
        return Cut(max_length, strategy, tuple(over), tuple(lost), tuple(cut), tuple(empty), self.longest)

    def histogram(self, bars: int = 40) -> list[tuple[int, int, int]]:
        """(from, to, rows) of bars of equal width; ``to`` is the last length that counts."""
        if not self.tokens:
            return []
        width = max(1, math.ceil(self.longest / bars))
        counts = [0] * (self.longest // width + 1)
        for length in self.tokens:
            counts[max(0, length - 1) // width] += 1
        last = (self.longest - 1) // width if self.longest else 0
        return [(place * width + 1, (place + 1) * width, count) for place, count in enumerate(counts[: last + 1])]

    def kept(self, max_length: int, strategy: Strategy) -> list[int]:
        """The lengths that are trained on under this limit."""
        if strategy == "delete":
            return [length for length in self.tokens if length <= max_length]
        return [min(length, max_length) for length in self.tokens]

    def padding(self, max_length: int, strategy: Strategy, batch: int, *, packing: bool) -> float:
        """The share of a batch that is filling, 0 to 1.

        Without packing rows are filled up to the longest of their batch, in a random order; with packing rows are
        put together up to ``max_length``, the longest first, each into the first that has room for it.
        """
        kept = self.kept(max_length, strategy)
        if not kept:
            return 0.0
        if packing:
            return 1 - sum(kept) / (len(_packed(kept, max_length)) * max_length)
        random.Random(42).shuffle(kept)
        batches = [kept[start : start + batch] for start in range(0, len(kept), batch)]
        return 1 - sum(kept) / sum(max(one) * len(one) for one in batches)

    def packs(self, max_length: int, strategy: Strategy) -> int:
        """Sequences of ``max_length`` that packing makes of these rows."""
        return len(_packed(self.kept(max_length, strategy), max_length))

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": list(self.numbers), "lengths": list(self.tokens), "firsts": list(self.firsts),
            "lasts": list(self.lasts), "trained": list(self.trained), "ends": list(self.ends),
        }  # fmt: skip

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Lengths:
        names = ("rows", "lengths", "firsts", "lasts", "trained")
        columns = [*(value[name] for name in names), value["ends"]]
        if len(set(map(len, columns))) != 1:
            raise ValueError("the columns differ in length")
        return cls(*columns)


def _packed(lengths: list[int], max_length: int) -> list[int]:
    """Room left in each pack. By the room left, so that many rows of few lengths are quick."""
    by_room: dict[int, int] = {}
    for length in sorted(lengths, reverse=True):
        rooms = [room for room in by_room if room >= length]
        room = min(rooms) if rooms else max_length
        if rooms:
            by_room[room] -= 1
            if not by_room[room]:
                del by_room[room]
        by_room[room - length] = by_room.get(room - length, 0) + 1
    return [room for room, count in by_room.items() for _ in range(count)]
