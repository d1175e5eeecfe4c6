"""How long the rows of a data set are, roughly, without a tokenizer."""

from __future__ import annotations

from pathlib import Path

from services.swift.commands import Data

BYTES_A_TOKEN = 4.0
"""UTF-8 bytes: four English letters, or a bit more than one Chinese character, are about a token."""
FRAME_BYTES = 60
"""Names, quotes and braces of a JSON row, which the model never sees."""
TEMPLATE_TOKENS = 20
"""What a chat template puts around a question and its answer."""
PLAIN = (".jsonl", ".json", ".csv", ".txt")


def mean_tokens(data: Data) -> int | None:
    """Tokens of a mean row of ``data``; None where its files cannot be weighed or their rows were not counted."""
    if not data.rows:
        return None
    size = 0
    for argument in data.arguments:
        if (found := _bytes(str(argument), data)) is None:
            return None
        size += found
    text = max(0.0, size / data.rows - FRAME_BYTES)
    return max(1, round(text / BYTES_A_TOKEN) + TEMPLATE_TOKENS)


def _bytes(argument: str, data: Data) -> int | None:
    name = argument.rpartition("/")[2]
    if name in data.files:
        return len(data.files[name].encode())
    path = Path(argument)
    try:
        return path.stat().st_size if path.suffix in PLAIN else None
    except (OSError, ValueError):
        return None
