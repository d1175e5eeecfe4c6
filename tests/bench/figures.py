"""What was measured, against what, and whether it keeps its bound."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Figure:
    """One line of the table; ``values`` are ratios where there is no unit."""

    what: str
    against: str
    values: tuple[float, ...]
    bound: float | None = None
    """The median may reach it and no more; None: shown for comparison."""
    unit: str = ""

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def kept(self) -> bool:
        return self.bound is None or self.median <= self.bound

    @property
    def verdict(self) -> str:
        if self.bound is None:
            return ""
        return "kept" if self.kept else "MISSED"

    def cells(self) -> tuple[str, ...]:
        """What the table shows of it."""
        spread = f" ({self._text(min(self.values))}–{self._text(max(self.values))})" if len(self.values) > 1 else ""
        bound = "" if self.bound is None else f"≤ {self._text(self.bound)}{self._unit}"
        return self.what, self.against, self._text(self.median) + self._unit + spread, bound, self.verdict

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.unit else ""

    def _text(self, value: float) -> str:
        return f"{value:.3f}" if not self.unit else f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def ratios(what: str, against: str, pairs: list[tuple[float, float]], bound: float | None = None) -> Figure:
    """A figure from pairs of (ours, theirs), each measured one right after the other."""
    return Figure(what, against, tuple(ours / theirs for ours, theirs in pairs), bound)


def table(figures: list[Figure]) -> list[str]:
    """The lines of the table."""
    rows = [("what", "against", "median (min–max)", "bound", ""), *(figure.cells() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
