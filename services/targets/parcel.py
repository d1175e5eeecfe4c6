"""A checkpoint on its way to a node that shares no folder with this machine: what is missing there, piece by piece."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Parcel:
    """A folder and the files in it, by relative path and size in bytes."""

    path: str
    sizes: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "sizes": self.sizes}

    def missing(self) -> list[str]:
        """What this machine lacks of it."""
        return [name for name, size in self.sizes.items() if _size(Path(self.path) / name) != size]

    def pieces(self, name: str) -> Iterator[dict[str, Any]]:
        """One of its files as messages; the last piece says so. Raises OSError."""
        with (Path(self.path) / name).open("rb") as file:
            data = file.read(PIECE_BYTES)
            while True:
                following = file.read(PIECE_BYTES)
                yield {"put": name, "data": base64.b64encode(data).decode(), "last": not following}
                if not following:
                    return
                data = following

    def take(self, message: dict[str, Any]) -> bool:
        """Write a piece; True when the file is whole. Raises OSError, and KeyError for a file that is none of it."""
        self.sizes[message["put"]]
        place = Path(self.path) / message["put"]
        partial = place.with_name(place.name + ".partial")
        place.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("ab") as file:
            file.write(base64.b64decode(message["data"]))
        if message["last"]:
            partial.replace(place)
        return bool(message["last"])


def parcel_of(folder: Path) -> Parcel:
    """A folder of this machine as it is now."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return Parcel(str(folder), {str(path.relative_to(folder)): path.stat().st_size for path in files})


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
