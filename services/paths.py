"""The one door for a path that came from a person."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from services.errors import Refused
from services.settings import Settings

MustBe = Literal["file", "folder", "any"]


def resolve(text: str, settings: Settings, *, must_be: MustBe = "any") -> Path:
    """The real, absolute path that ``text`` means: ``~`` filled in, links followed, relative to the
    current directory.

    Raises Refused("path_not_found") with one and the same answer for a path that does not exist,
    is not what it must be, cannot be a path at all, or lies outside ``settings.roots``.
    """
    try:
        path = Path(text).expanduser().resolve(strict=True)
        inside = any(path.is_relative_to(root) for root in settings.roots)
        if text.strip() and inside and _is(path, must_be):
            return path
    except (OSError, RuntimeError, ValueError):
        pass
    raise Refused("path_not_found", path=printable(text))


def resolve_new(text: str, settings: Settings) -> Path:
    """The absolute path of a file or folder that need not be there yet. Raises Refused as ``resolve`` does."""
    try:
        path = Path(text).expanduser().resolve()
        if text.strip() and any(path.is_relative_to(root) for root in settings.roots):
            return path
    except (OSError, RuntimeError, ValueError):
        pass
    raise Refused("path_not_found", path=printable(text))


def printable(text: str, width: int = 200) -> str:
    """``text`` on one line and at most ``width`` characters, safe to put into a sentence."""
    clean = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"


def _is(path: Path, must_be: MustBe) -> bool:
    if must_be == "file":
        return path.is_file()
    if must_be == "folder":
        return path.is_dir()
    return path.is_file() or path.is_dir()
