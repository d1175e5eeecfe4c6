"""Rows that say the same: exactly, nearly, and in another file too."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

_MASK = (1 << 64) - 1
_FEW = 100_000
"""Up to so many rows a dictionary is quicker than loading numpy."""


def repeated(hashes: array[int]) -> list[tuple[int, int]]:
    """(row, the first row it repeats), both from 1, for every row whose hash came before; 0 is no hash.

    Memory: some 30 bytes a row, for as long as it takes.
    """
    return _by_dictionary(hashes) if len(hashes) <= _FEW else _by_sorting(hashes)


def _by_dictionary(hashes: array[int]) -> list[tuple[int, int]]:
    first: dict[int, int] = {}
    return [
        (row, known)
        for row, value in enumerate(hashes, 1)
        if value and (known := first.setdefault(value, row)) != row
    ]


def _by_sorting(hashes: array[int]) -> list[tuple[int, int]]:
    import numpy

    values = numpy.frombuffer(hashes, dtype=numpy.uint64)
    order = numpy.argsort(values, kind="stable")
    ordered = values[order]
    starts = numpy.concatenate(([True], ordered[1:] != ordered[:-1]))
    later = numpy.flatnonzero(~starts & (ordered != 0))
    if not len(later):
        return []
    begun = numpy.flatnonzero(starts)
    origin = order[begun[numpy.searchsorted(begun, later, side="right") - 1]]
    rows = order[later]
    by_row = numpy.argsort(rows)
    return [(int(row) + 1, int(first) + 1) for row, first in zip(rows[by_row], origin[by_row], strict=True)]


SIMILAR = 0.8
"""Share of common pieces from which two rows count as nearly the same."""
_PIECE = 8
"""Characters."""
_HASHES, _BANDS = 64, 16
"""Rows that share SIMILAR of their pieces meet in one of the bands with a chance of 1 - (1 - 0.8^4)^16 > 0.9998."""
_LONGEST = 4_000
"""Characters of a row that are compared."""


def similar(texts: Sequence[tuple[int, str]]) -> list[tuple[int, int]]:
    """(row, an earlier row it is nearly the same as), for pairs of SIMILAR or more; equal but for blanks counts.

    MinHash with banding (Broder 1997; Leskovec et al., Mining of Massive Datasets, 3.4). Every row is compared with
    the first of each band it falls into, so that the time grows with the rows and not with their square.
    """
    factors = _factors()
    firsts: dict[tuple[int, bytes], int] = {}
    pieces: list[numpy.ndarray[Any, numpy.dtype[numpy.uint64]]] = []
    found: list[tuple[int, int]] = []
    for place, (row, text) in enumerate(texts):
        pieces.append(_pieces(text))
        signature = (factors[:, None] * pieces[place][None, :]).min(axis=1)
        bands = [(band, part.tobytes()) for band, part in enumerate(signature.reshape(_BANDS, -1))]
        met = {firsts[band] for band in bands if band in firsts}
        alike = next((other for other in sorted(met) if _overlap(pieces[other], pieces[place]) >= SIMILAR), None)
        if alike is not None:
            found.append((row, texts[alike][0]))
        for band in bands:
            firsts.setdefault(band, place)
    return found


def signature(text: str) -> numpy.ndarray[Any, numpy.dtype[numpy.uint32]]:
    """_HASHES numbers of which two texts share as many as they share of their pieces (Broder 1997)."""
    import numpy

    least = (_factors()[:, None] * _pieces(text)[None, :]).min(axis=1)
    numbers: numpy.ndarray[Any, numpy.dtype[numpy.uint32]] = (least >> numpy.uint64(32)).astype(numpy.uint32)
    return numbers


def near(signatures: numpy.ndarray[Any, numpy.dtype[numpy.uint32]]) -> list[tuple[int, int]]:
    """(place, the earliest place it is nearly the same as), by ``signatures``, one a row: those that share a band with
    another and SIMILAR of their numbers. Time grows as sorting does; memory is that of the signatures again.

    The share is known from _HASHES numbers to some 5 in a hundred (one standard deviation).
    """
    import numpy

    wide = _HASHES // _BANDS
    first = numpy.full(len(signatures), -1, dtype=numpy.int64)
    for band in range(_BANDS):
        part = numpy.ascontiguousarray(signatures[:, band * wide : (band + 1) * wide])
        keys = part.view(numpy.dtype((numpy.void, part.dtype.itemsize * wide))).ravel()
        _, starts, group = numpy.unique(keys, return_index=True, return_inverse=True)
        leader = starts[group.ravel()]  # unique gives the first place of each key
        later = numpy.flatnonzero(leader < numpy.arange(len(leader)))
        alike = (signatures[later] == signatures[leader[later]]).mean(axis=1) >= SIMILAR
        rows, leaders = later[alike], leader[later][alike]
        better = (first[rows] < 0) | (leaders < first[rows])
        first[rows[better]] = leaders[better]
    return [(int(row), int(first[row])) for row in numpy.flatnonzero(first >= 0)]


@cache
def _factors() -> numpy.ndarray[Any, numpy.dtype[numpy.uint64]]:
    import numpy

    random = numpy.random.default_rng(42)
    return random.integers(1, 1 << 63, _HASHES, dtype=numpy.uint64) | numpy.uint64(1)


def _pieces(text: str) -> numpy.ndarray[Any, numpy.dtype[numpy.uint64]]:
    """Hashes of the different runs of characters of a text, without its blanks and capitals."""
    import numpy

    plain = "".join(text[:_LONGEST].lower().split())
    runs = {plain[start : start + _PIECE] for start in range(max(1, len(plain) - _PIECE + 1))}
    return numpy.fromiter((hash(run) & _MASK for run in runs), numpy.uint64, len(runs))


def _overlap(one: Any, other: Any) -> float:
    import numpy

    common = len(numpy.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def shared(one: array[int], other: array[int]) -> list[tuple[int, int]]:
    """(row of ``one``, the first row of ``other`` that says the same), by their hashes."""
    wanted, first = set(one) - {0}, dict[int, int]()
    for row, value in enumerate(other, 1):
        if value in wanted:
            first.setdefault(value, row)
    return [(row, first[value]) for row, value in enumerate(one, 1) if value in first]
