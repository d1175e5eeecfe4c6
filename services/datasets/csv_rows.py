"""Rows out of comma-separated text, with the shape faults that pandas (ms-swift's reader) trips over."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import IO

from services.datasets.rows import Fault, Row
from services.paths import printable

_LARGEST_FIELD = 16 << 20
"""Characters; beyond it a quote was never closed."""
_OTHERS = (";", "\t", "|")


def delimiter(head: str) -> str:
    """What separates the fields of the header: a comma, unless only another sign can."""
    first = head.lstrip("\ufeff\r\n").splitlines()[0]
    if first.lower().startswith("sep=") and len(first.strip()) == 5:
        return first.strip()[-1]
    if "," in first:
        return ","
    fields = {sign: len(next(csv.reader([first], delimiter=sign), [])) for sign in _OTHERS}
    best = max(fields, key=lambda sign: fields[sign])
    return best if fields[best] > 1 else ","


def read(stream: IO[str], sign: str) -> Iterator[Row | Fault]:
    """Rows as text cells under the header's names. A line that is too short comes as a Fault with its row."""
    csv.field_size_limit(_LARGEST_FIELD)
    recent: list[str] = []
    reader = csv.reader(_remembered(stream, recent), delimiter=sign)
    names: list[str] = []
    width = start = 0
    while True:
        start, recent[:] = reader.line_num + 1, []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Fault("csv_quote_open", start, {"reason": printable(str(error), 80)})
            return
        if not cells or (len(cells) == 1 and not cells[0].strip()):
            continue
        if _quote_open(recent, sign):
            yield Fault("csv_quote_open", start, {"reason": printable(recent[0], 60)})
            return
        if not names:
            if not (len(cells) == 2 and cells[0].lower() == "sep="):
                names = _names(cells)
            continue
        if not width:
            width = max(len(names), len(cells))
            if len(cells) > len(names):
                yield _uneven("csv_shifted", start, cells, names, sign)
                continue
        if len(cells) == len(names):
            yield dict(zip(names, cells, strict=True))
        elif len(cells) > width:
            yield _uneven("csv_long", start, cells, names, sign)
        elif len(cells) < len(names):
            yield _uneven("csv_short", start, cells, names, sign)
        else:
            yield dict(zip(names, cells, strict=False))


def _remembered(stream: IO[str], recent: list[str]) -> Iterator[str]:
    for line in stream:
        recent.append(line)
        yield line


def _quote_open(recent: list[str], sign: str) -> bool:
    """Whether the record ended only because the file did, inside quotes."""
    if sum(line.count('"') for line in recent) % 2 == 0:
        return False
    try:
        list(csv.reader(recent, delimiter=sign, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _names(cells: list[str]) -> list[str]:
    """Header names as pandas makes them unique."""
    names: list[str] = []
    seen: Counter[str] = Counter()
    for place, cell in enumerate(cells):
        name = cell.removeprefix("\ufeff") or f"Unnamed: {place}"
        names.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return names


def _uneven(code: str, line: int, cells: list[str], names: list[str], sign: str) -> Fault:
    padded = cells + [""] * (len(names) - len(cells))
    values = {"found": len(cells), "wanted": len(names), "text": printable(sign.join(cells), 80)}
    return Fault(code, line, values, dict(zip(names, padded, strict=False)))
