"""Rows out of comma-separated text, with the shape faults that pandas (ms-swift's reader) trips over."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.datasets.json_rows import LONGEST_LINE
from services.datasets.rows import Fault, Row
from services.datasets.text_rows import fault_in
from services.paths import printable

_LARGEST_FIELD = 16 << 20
"""Characters; beyond it a quote was never closed."""
RAGGED = {"csv_long", "csv_shifted", "csv_short"}
"""Lines with more or fewer fields than the header."""
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


@dataclass(frozen=True)
class Header:
    """What the beginning of a table fixes for the rest."""

    names: list[str]
    width: int
    """Fields of the first row; pandas takes them for granted where they are more than the names."""


def header(lines: Iterable[str], sign: str) -> Header:
    """The header of a table that starts with ``lines``."""
    rows = (cells for cells in csv.reader(lines, delimiter=sign) if cells and (len(cells) > 1 or cells[0].strip()))
    cells = next(rows, [])
    if len(cells) == 2 and cells[0].lower() == "sep=":
        cells = next(rows, [])
    names = _names(cells)
    return Header(names, max(len(names), len(next(rows, []))))


def read(lines: Iterable[str], sign: str, known: Header | None = None, line: int = 0) -> Iterator[Row | Fault]:
    """Rows as text cells under the header's names. A line that is too short comes as a Fault with its row.

    With ``known`` the lines are taken from the middle of a file, after ``line`` others.
    """
    csv.field_size_limit(_LARGEST_FIELD)
    recent: list[str] = []
    reader = csv.reader(_remembered(lines, recent), delimiter=sign)
    names, width = (known.names, known.width) if known is not None else ([], 0)
    while True:
        start, recent[:] = line + reader.line_num + 1, []
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Fault("csv_quote_open", start, {"reason": printable(str(error), 80)})
            return
        if len(recent[-1]) >= LONGEST_LINE:
            yield Fault("line_too_long", start, {"mib": LONGEST_LINE >> 20})
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
        width = width or max(len(names), len(cells))
        yield fault_in(lines) or _row(cells, names, width, start, sign)


def _row(cells: list[str], names: list[str], width: int, line: int, sign: str) -> Row | Fault:
    """``width``: of the file's first row, which decides what pandas makes of a longer one."""
    if len(cells) == len(names):
        return dict(zip(names, cells, strict=True))
    if len(cells) < len(names):
        return _uneven("csv_short", line, cells, names, sign)
    return _uneven("csv_long" if len(cells) > width else "csv_shifted", line, cells, names, sign)


def _remembered(lines: Iterable[str], recent: list[str]) -> Iterator[str]:
    for line in lines:
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
    meant = _meant(cells, len(names), sign) if len(cells) > len(names) else None
    mended = dict(zip(names, meant, strict=True)) if meant else None
    return Fault(code, line, values, dict(zip(names, padded, strict=False)), mended)


def saved(fault: Fault) -> Row | None:
    """What can be saved of a line that is no whole row: where its surplus fields belong is clear, or some are missing;
    None: nothing."""
    return fault.mended if fault.mended is not None else fault.row if fault.code == "csv_short" else None


def _meant(cells: list[str], wanted: int, sign: str) -> list[str] | None:
    """The cells of a line that is too long, where there is one clear reading: a comma with a space behind it belongs
    to a sentence, and empty cells at the end are stray commas."""
    if not "".join(cells[wanted:]).strip():
        return cells[:wanted]
    merged = cells[:1]
    for cell in cells[1:]:
        if cell.startswith(" ") and merged[-1]:
            merged[-1] += sign + cell
        else:
            merged.append(cell)
    return merged if len(merged) == wanted else None
