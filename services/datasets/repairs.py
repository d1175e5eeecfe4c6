"""What can be done to one row to mend it. Rows come in and go out; nothing here knows of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.datasets.formats import Format, Task, detect
from services.datasets.names import CONVERSATIONS, MEDIA, QUERIES, RESPONSES
from services.datasets.rows import Row
from services.datasets.turns import is_garbled
from services.datasets.wording import Message, literal, messages_of, role_of, text_of

_TURNS = (*CONVERSATIONS, "rejected_messages", "history", "chosen", "rejected")
_CONTROL = re.compile(r"<(?=\|[^|<>\s]{1,40}\|>|｜[^<>｜]{1,40}｜>|/?s>|(?:start|end)_of_turn>)|\[(?=/?INST\])")
_BREAK = "\u200b"
_CP1252 = {bytes([code]).decode("cp1252"): bytes([code]) for code in range(0x80, 0xA0)
           if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}  # fmt: skip
_NOT_CP1252 = re.compile(f"([^\\x00-\\xff{''.join(_CP1252)}]+)")
_GOOD = {"true", "yes", "y", "1", "1.0", "good", "thumbs up", "thumbs_up", "👍", "desirable", "chosen", "positive",
         "like", "liked", "accept", "accepted", "好", "是", "赞"}  # fmt: skip
_BAD = {"false", "no", "n", "0", "0.0", "-1", "-1.0", "bad", "thumbs down", "thumbs_down", "👎", "undesirable",
        "rejected", "negative", "dislike", "disliked", "reject", "坏", "否", "踩"}  # fmt: skip


def to_messages(row: Row, form: Format, task: Task) -> Row | None:
    """``row`` as messages, with the columns ms-swift keeps beside them; None where no turns can be made of it.

    ``form`` is the file's; a row that does not have its columns is read by its own.
    """
    roles: Mapping[str, str] = form.roles
    if not any(row.get(column) is not None for role, column in roles.items() if role not in ("system", "history")):
        keys = tuple(name for name, value in row.items() if value is not None)
        roles = _own_roles(keys, task)
    media: dict[str, list[Any]] = {}
    messages = _messages(row, roles, media)
    if not messages:
        return None
    kept = {name: row[column] for column, name in form.kept.items() if row.get(column) is not None}
    for name, found in media.items():
        kept[name] = [*_as_list(kept.get(name)), *found]
    return {"messages": messages, **kept}


def _messages(row: Row, roles: Mapping[str, str], media: dict[str, list[Any]]) -> list[Message]:
    def cell(role: str) -> Any:
        return row.get(roles[role]) if role in roles else None

    if "messages" in roles:
        turns = messages_of(cell("messages"), media)
    else:
        asked = "\n".join(str(part) for part in (cell("instruction"), cell("input")) if part not in (None, ""))
        asked = asked or cell("query")
        answer = cell("output") if cell("output") is not None else cell("response")
        answer = answer[0] if isinstance(answer, list) and answer else answer
        turns = messages_of(cell("history")) if cell("history") else []
        pair = (("user", asked), ("assistant", answer))
        turns += [{"role": role, "content": text_of(text)} for role, text in pair if text is not None]
        if not any(turn["role"] == "assistant" for turn in turns):
            return []
    system = cell("system")
    if system not in (None, "") and turns and turns[0]["role"] != "system":
        turns.insert(0, {"role": "system", "content": text_of(system)})
    return turns


@lru_cache(maxsize=256)
def _own_roles(columns: tuple[str, ...], task: Task) -> Mapping[str, str]:
    """role -> column for a row with these columns; by the most usual names where two could be meant."""
    form = detect(columns, task=task)
    if form.problem is None and form.roles:
        return form.roles
    lower = {name.strip().lower(): name for name in reversed(columns)}
    query = next((lower[word] for word in QUERIES if word in lower), None)
    response = next((lower[word] for word in RESPONSES if word in lower and lower[word] != query), None)
    found = {"query": query, "response": response}
    return {role: column for role, column in found.items() if column is not None}


def rename_columns(row: Row, form: Format) -> Row:
    """The columns that are used, under the names ms-swift knows; the others are left out."""
    named = {column: role for role, column in form.roles.items()} | dict(form.kept)
    return {name: row[column] for column, name in named.items() if column in row}


def lower_roles(row: Row) -> Row:
    """Roles in ms-swift's spelling, wherever turns stand."""

    def turn(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {key: role_of(value) if key in ("role", "from") else value for key, value in part.items()}

    return {
        name: [turn(part) for part in value] if isinstance(value, list) and name.strip().lower() in _TURNS else value
        for name, value in row.items()
    }


def text_cells(row: Row, form: Format) -> Row:
    """Numbers, dates and truth values as text in the columns that are trained on."""
    columns = set(form.roles.values()) | {name for name in form.kept if "rejected" in name}
    return {
        name: _texts(value) if name in columns else value for name, value in row.items()
    }


def kto_labels(row: Row) -> Row | None:
    """``label`` as true or false; None where it says neither."""
    name = next((name for name in row if name.strip().lower() == "label"), None)
    if name is None:
        return row
    word = str(row[name]).strip().lower()
    if word not in _GOOD and word not in _BAD:
        return None
    return {**row, name: word in _GOOD}


def join_turns(row: Row) -> Row:
    """Turns of one role that follow each other become one, with a blank line between."""

    def joined(turns: list[Any]) -> list[Any]:
        result: list[Any] = []
        for turn in turns:
            if result and _same_role(result[-1], turn):
                key = "content" if "content" in turn else "value"
                result[-1] = {**result[-1], key: f"{result[-1][key]}\n\n{turn[key]}"}
            else:
                result.append(turn)
        return result

    return _with_turns(row, joined)


def trim_turns(row: Row) -> Row:
    """Answers before the first question and questions after the last answer are left out; nothing where no answer
    would be left."""

    def trimmed(turns: list[Any]) -> list[Any]:
        roles = [_role(turn) for turn in turns]
        first = 1 if roles[:1] == ["system"] else 0
        start, end = first, len(turns)
        while start < end and roles[start] == "assistant":
            start += 1
        while end > start and roles[end - 1] == "user":
            end -= 1
        return [*turns[:first], *turns[start:end]] if "assistant" in roles[start:end] else turns

    return _with_turns(row, trimmed)


def neutral_tokens(value: Any) -> Any:
    """``value`` with a zero-width break in every control token, so that it is read as text."""
    if isinstance(value, str):
        return _CONTROL.sub(lambda match: match[0] + _BREAK, value) if "<" in value or "[" in value else value
    if isinstance(value, list):
        return [neutral_tokens(part) for part in value]
    if isinstance(value, dict):
        return {key: neutral_tokens(part) for key, part in value.items()}
    return value


def ungarbled(value: Any) -> Any:
    """``value`` with texts in UTF-8 that were once read as Windows-1252 or Latin-1 read rightly; the others as they
    are."""
    if isinstance(value, str):
        return value if value.isascii() or not is_garbled(value) else _read_again(value)
    if isinstance(value, list):
        return [ungarbled(part) for part in value]
    if isinstance(value, dict):
        return {key: ungarbled(part) for key, part in value.items()}
    return value


def _read_again(text: str) -> str:
    """Characters that the wrong reading cannot have made are left alone; so is all of a text that makes no UTF-8."""
    parts = re.split(_NOT_CP1252, text)
    try:
        return "".join(part if place % 2 else _as_bytes(part).decode() for place, part in enumerate(parts))
    except UnicodeError:
        return text


def _as_bytes(text: str) -> bytes:
    """The bytes that Windows-1252 reads as ``text``; where it has no character, those of Latin-1."""
    return b"".join(_CP1252.get(sign) or sign.encode("latin-1") for sign in text)


def with_whole_paths(row: Row, folder: Path) -> Row:
    """Relative paths of pictures and the like that lie beside the file, made absolute: the copy lies elsewhere."""
    found = {
        name: _whole_paths(value, folder)
        for name, value in row.items()
        if value and MEDIA.get(name.strip().lower(), name) in ("images", "audios", "videos")
    }
    return {**row, **found} if found else row


def _whole_paths(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_whole_paths(part, folder) for part in value]
    if isinstance(value, dict):
        return {key: _whole_paths(part, folder) if key == "path" else part for key, part in value.items()}
    return _whole_path(value, folder) if isinstance(value, str) else value


@lru_cache(maxsize=4096)
def _whole_path(text: str, folder: Path) -> str:
    if text.startswith(("/", "data:", "http:", "https:")) or len(text) > 1_000 or "\0" in text:
        return text
    try:
        whole = folder / text
        return str(whole) if whole.is_file() else text
    except OSError:
        return text


def _with_turns(row: Row, change: Callable[[list[Any]], list[Any]]) -> Row:
    return {
        name: change(value) if name.strip().lower() in CONVERSATIONS and _are_turns(value) else value
        for name, value in row.items()
    }


def _are_turns(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def _role(turn: Any) -> Any:
    return role_of(turn.get("role", turn.get("from"))) if isinstance(turn, dict) else None


def _same_role(last: Row, turn: Row) -> bool:
    if _role(last) != _role(turn) or _role(turn) not in ("user", "assistant") or last.get("loss") != turn.get("loss"):
        return False
    return any(isinstance(last.get(key), str) and isinstance(turn.get(key), str) for key in ("content", "value"))


def _texts(value: Any) -> Any:
    if isinstance(value, list):
        return [_texts(part) for part in value]
    if isinstance(value, dict):
        return {key: text_of(part) if key in ("content", "value") else part for key, part in value.items()}
    if value is not None and not isinstance(value, str | int | float | bytes):
        return str(value)  # a date or a decimal out of a table
    return text_of(value)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    value = literal(value) if isinstance(value, str) else value
    return value if isinstance(value, list) else [value]
