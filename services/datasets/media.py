"""Pictures, sounds and films that rows point to: where ms-swift would look for them, and which are not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.datasets.formats import Format
from services.datasets.names import MEDIA
from services.datasets.rows import Row

_REMEMBERED = 100_000
"""Names whose being there is remembered while a file is read."""
_ELSEWHERE = ("http://", "https://", "data:", "file://")


@dataclass
class Media:
    """The files that rows name, looked up beside the data file."""

    columns: tuple[str, ...] = ()
    folder: Path = Path()
    """Of the data file."""
    rows: int = 0
    """Rows that name a file."""
    references: int = 0
    relative: int = 0
    """Of them, paths that are not absolute: ms-swift resolves those from ROOT_IMAGE_DIR, else from the run's folder."""
    names: set[str] = field(default_factory=set)
    """Different files, as far as remembered."""
    _there: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, form: Format, path: Path) -> Media:
        columns = tuple(column for column, name in form.kept.items() if name in MEDIA.values())
        return cls(columns, path if path.is_dir() else path.parent)

    def missing(self, row: Row) -> str:
        """Count what ``row`` names; the first file that is not there, or nothing."""
        lost, before = "", self.references
        for column in self.columns:
            for name in _names(row.get(column)):
                self.references += 1
                self.relative += not name.startswith("/") and not name.startswith(_ELSEWHERE)
                if len(self.names) < _REMEMBERED:
                    self.names.add(name)
                if not self._is_there(name):
                    lost = lost or name
        self.rows += self.references > before
        return lost

    def _is_there(self, name: str) -> bool:
        if name.startswith(_ELSEWHERE) or len(name) > 4096 or "\0" in name:
            return True
        if name not in self._there:
            if len(self._there) >= _REMEMBERED:
                self._there.clear()
            try:
                self._there[name] = (self.folder / name).is_file()
            except OSError:
                self._there[name] = False
        return self._there[name]

    def append(self, other: Media) -> None:
        self.rows += other.rows
        self.references += other.references
        self.relative += other.relative
        self.names |= other.names


def _names(value: Any) -> Iterator[str]:
    """File names in a cell: a name, a list of them, or objects with a path."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _names(one)
    elif isinstance(value, dict) and isinstance(value.get("path"), str) and not value.get("bytes"):
        yield value["path"]
