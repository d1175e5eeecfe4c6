"""Keeps uploaded files: copied into the datasets folder under their own names, never overwriting another."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from itertools import count
from pathlib import Path

from services.datasets.packing import ENDINGS
from services.errors import Failed
from services.paths import printable
from services.settings import Settings

_UNSAFE = re.compile(r"""[\x00-\x1f\x7f/\\:*?"<>|\[\]#]+""")
_LONGEST_NAME = 120
"""Bytes; file systems take 255, and a suffix may be added."""


def keep_upload(temp_path: Path, original_name: str, settings: Settings) -> Path:
    """Copy an uploaded file into ``settings.datasets`` and return where it is now.

    The same content under the same name is kept once; other content under that name gets ``-2``, ``-3`` …
    ``temp_path`` is only read. Raises Failed("upload_not_kept") when the disk does not take it.
    """
    name = safe_name(original_name)
    folder = settings.datasets
    part: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, part_name = tempfile.mkstemp(dir=folder, prefix=".upload-")
        part = Path(part_name)
        with os.fdopen(handle, "wb") as copy, temp_path.open("rb") as original:
            shutil.copyfileobj(original, copy, 1 << 20)
        part.chmod(0o644)
        return _placed(part, folder, name)
    except OSError as error:
        raise Failed("upload_not_kept", folder=printable(str(folder)), reason=error.strerror or str(error)) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def safe_name(original: str) -> str:
    """The last part of ``original`` without anything a path, a shell or ms-swift would read as more than a name."""
    last = re.split(r"[/\\]", original)[-1]
    clean = "".join(char for char in _UNSAFE.sub("_", last) if char.isprintable()).strip(" .")
    stem, ending = _split(clean)
    ending = ending[:20]
    while len((stem + ending).encode(errors="replace")) > _LONGEST_NAME:
        stem = stem[:-1]
    return (stem.strip() or "upload") + ending


def _placed(part: Path, folder: Path, name: str) -> Path:
    """Give ``part`` the first free of name, name-2 …, or find the file that already holds the same bytes."""
    stem, ending = _split(name)
    for number in count(1):
        target = folder / (name if number == 1 else f"{stem}-{number}{ending}")
        try:
            os.link(part, target)
            return target
        except FileExistsError:
            if target.is_file() and _same(part, target):
                return target
    raise AssertionError("unreachable")


def _split(name: str) -> tuple[str, str]:
    """(stem, ending); both endings of a compressed file, by which it is read."""
    stem, ending = os.path.splitext(name)  # noqa: PTH122 - Path.stem loses names such as ".jsonl"
    inner = os.path.splitext(stem)[1] if ending[1:].lower() in ENDINGS else ""  # noqa: PTH122
    return stem.removesuffix(inner), inner + ending


def _same(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and _digest(one) == _digest(other)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
