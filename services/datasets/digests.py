"""A set of 8-byte digests, for finding exact duplicates in little memory."""

from __future__ import annotations

from array import array
from hashlib import blake2b

_START = 1 << 12
_MOST_SLOTS = 1 << 25
"""256 MiB; beyond it nothing more is remembered, and later duplicates stay."""


class Digests:
    """Open addressing over a flat array: 8 bytes a slot, at most two thirds full."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _START))
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def add(self, data: bytes) -> bool:
        """Remember ``data``; False when it was there already."""
        digest = int.from_bytes(blake2b(data, digest_size=8).digest(), "little") or 1
        place = self._place(digest)
        if self._slots[place]:
            return False
        if self._used * 3 < len(self._slots) * 2:
            self._slots[place] = digest
            self._used += 1
            if self._used * 3 >= len(self._slots) * 2 and len(self._slots) < _MOST_SLOTS:
                self._grow()
        return True

    def _place(self, digest: int) -> int:
        mask = len(self._slots) - 1
        place = digest & mask
        while (there := self._slots[place]) and there != digest:
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        old, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
        for digest in old:
            if digest:
                self._slots[self._place(digest)] = digest
