"""What a person said the columns of a file mean, remembered for every file with the same columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from uuid import uuid4

import orjson

from services.errors import Failed
from services.settings import Settings

_MOST = 500
"""The oldest go first."""


def remember(columns: Iterable[str], mapping: Mapping[str, str], settings: Settings) -> None:
    """Keep ``mapping`` (a ``--columns``: column -> ms-swift's name) for files with exactly these columns; an empty one
    forgets. Raises Failed("cannot_write").
    """
    path = _place(settings)
    known = _read(path)
    known.pop(_key(columns), None)
    if mapping:
        known[_key(columns)] = dict(mapping)
    newest = dict(list(known.items())[-_MOST:])
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(orjson.dumps(newest, option=orjson.OPT_INDENT_2))
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise Failed("cannot_write", what=str(path), details=str(error)) from error


def recall(columns: Iterable[str], settings: Settings) -> dict[str, str] | None:
    """The mapping that was remembered for files with exactly these columns; None: none was."""
    return _read(_place(settings)).get(_key(columns))


def _place(settings: Settings) -> Path:
    return settings.datasets / ".mappings.json"


def _key(columns: Iterable[str]) -> str:
    return orjson.dumps(sorted(columns)).decode()


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    whole = isinstance(value, dict) and all(isinstance(one, dict) for one in value.values())
    return value if whole else {}
