"""Files that were changed without a new date: ms-swift's loader knows a file by its path and its date alone, and would
go on with the rows it once read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import orjson
from xxhash import xxh3_64

from services.settings import Settings

_WHOLE_BYTES = 256 << 20
"""Of a larger file only pieces spread over it are compared."""
_PIECE = 1 << 20
_PIECES = 64


def stale_name(path: Path, settings: Settings) -> str | None:
    """A word to put into a new name for a file whose content is not what it was under the same date; None: no need.

    The first look at a file under a date is remembered in the data folder, and is never forgotten.
    """
    try:
        if not path.is_file():
            return None
        stat = path.stat()
        place = _place(path, stat.st_mtime_ns, settings)
        change = [stat.st_size, stat.st_ctime_ns]
        known = _read(place)
        if known is None:
            _write(place, {"change": change, "digest": digest(path)})
            return None
        if known["change"] == change:
            return None
        now = digest(path)
        return None if now == known["digest"] else now
    except OSError:
        return None


def digest(path: Path) -> str:
    """16 letters that change with the content: all of it, or of a large file pieces spread over it. Raises OSError."""
    size = path.stat().st_size
    found = xxh3_64(size.to_bytes(8, "little"))
    with path.open("rb") as file:
        if size <= _WHOLE_BYTES:
            while block := file.read(_PIECE):
                found.update(block)
        else:
            for number in range(_PIECES):
                file.seek((size - _PIECE) * number // (_PIECES - 1))
                found.update(file.read(_PIECE))
    return found.hexdigest()


def _place(path: Path, modified_ns: int, settings: Settings) -> Path:
    name = hashlib.sha256(os.fsencode(path) + b"\0" + str(modified_ns // 1000).encode()).hexdigest()[:24]
    return settings.cache / "seen" / f"{name}.json"


def _read(place: Path) -> dict[str, object] | None:
    try:
        value = orjson.loads(place.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) and {"change", "digest"} <= value.keys() else None


def _write(place: Path, value: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f"{place.name}.{os.getpid()}.partial")
        partial.write_bytes(orjson.dumps(value))
        partial.replace(place)
