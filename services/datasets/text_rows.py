"""Lines of text: decoded one by one, so that a byte that is not UTF-8 is told with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from services.datasets.encoding import first_bad_byte
from services.datasets.json_rows import LONGEST_LINE, bounded
from services.datasets.rows import Fault, Row


class Decoded:
    """The lines of a stream of UTF-8; ``bad`` remembers those that are not, until they are asked for."""

    def __init__(self, stream: IO[bytes], number: int = 0) -> None:
        self._stream = stream
        self.number = number
        """Lines handed out so far."""
        self.consumed = 0
        """Bytes of those lines."""
        self.bad: list[tuple[int, int]] = []
        """(line, first bad byte)"""

    def __iter__(self) -> Iterator[str]:
        for raw in bounded(self._stream):
            self.number += 1
            self.consumed += len(raw)
            try:
                yield raw.decode("utf-8-sig" if self.number == 1 else "utf-8")
            except UnicodeDecodeError:
                self.bad.append((self.number, first_bad_byte(raw)))
                yield raw.decode("utf-8", errors="replace")

    def fault(self) -> Fault | None:
        """The first bad line since the last call."""
        if not self.bad:
            return None
        line, byte = self.bad[0]
        self.bad.clear()
        return Fault("not_utf8_unknown", line, {"byte": f"0x{byte:02x}"})


def fault_in(lines: Iterable[str]) -> Fault | None:
    return lines.fault() if isinstance(lines, Decoded) else None


def read(lines: Iterable[str], number: int = 0) -> Iterator[Row | Fault]:
    """One row a line, as ms-swift makes of a .txt file; empty lines are rows too."""
    for number, line in enumerate(lines, number + 1):  # noqa: PLR1704, B020
        if len(line) >= LONGEST_LINE:
            yield Fault("line_too_long", number, {"mib": LONGEST_LINE >> 20})
            return
        yield fault_in(lines) or {"text": line.removesuffix("\n").removesuffix("\r")}
