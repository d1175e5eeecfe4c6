"""Every word a person reads, in English and Chinese: one table for the window and the command line.

The table is cut by room only for reading; a key says which: ``training.start``, ``error.port_taken``.
Services return codes and values, and whoever shows them calls ``say``.
"""

from __future__ import annotations

from services.errors import Key, TuneDeskError
from services.text import (
    chat,
    cli,
    dataset,
    errors,
    export,
    field,
    importing,
    planning,
    runs,
    targets,
    training,
    window,
)

LANGUAGES = ("en", "zh")

WORDS: dict[str, tuple[str, str]] = {
    f"{room}.{key}": pair
    for room, words in {
        "chat": chat.WORDS,
        "cli": cli.WORDS,
        "dataset": dataset.WORDS,
        "error": errors.WORDS,
        "export": export.WORDS,
        "field": field.WORDS,
        "planning": planning.WORDS,
        "importing": importing.WORDS,
        "runs": runs.WORDS,
        "targets": targets.WORDS,
        "training": training.WORDS,
        "window": window.WORDS,
    }.items()
    for key, pair in words.items()
}


def say(key: str, lang: str, /, **values: object) -> str:
    """The text of ``key`` in ``lang`` ("en" or "zh"), its ``{gaps}`` filled; a Key among the values is put into
    words too. Raises KeyError for an unknown key.
    """
    pair = WORDS[key]
    text = pair[1] if lang == "zh" else pair[0]
    words = {name: say(value, lang, **value.values) if isinstance(value, Key) else value for name, value in values.items()}
    return text.format(**words) if values else text


def explain(error: TuneDeskError, lang: str) -> str:
    """What happened, why, and what to do next, for a person."""
    return say(f"error.{error.code}", lang, **error.values)
