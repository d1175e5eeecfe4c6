"""Rows as conversations of plain text, for a person to look at."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from services.datasets.formats import Format
from services.datasets.report import Preview, Turn
from services.datasets.rows import Row
from services.datasets.turns import Turn as RawTurn
from services.datasets.turns import Unusable, turns_of

_LONGEST_SHOWN = 4_000
"""Characters of one turn."""


def as_conversation(row: Row, form: Format) -> list[Turn]:
    """``row`` as turns of plain text; empty where ms-swift makes none of it."""
    try:
        return [_shown(turn) for turn in turns_of(row, form)]
    except Unusable:
        return []


def preview_of(number: int, row: Row, form: Format, codes: Sequence[str]) -> Preview:
    """Row ``number`` as turns, or its raw text where no turns can be made of it."""
    turns = tuple(as_conversation(row, form))
    raw = "" if turns else _cut(orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS).decode(errors="replace"))
    return Preview(number, turns, raw, tuple(codes))


def _shown(turn: RawTurn) -> Turn:
    content = turn.content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        content = "".join(str(part.get("text") or f"<{part.get('type')}>") for part in content)
    elif not isinstance(content, str):
        content = orjson.dumps(content, default=str).decode()
    return Turn(turn.role, _cut(content))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + " …"
