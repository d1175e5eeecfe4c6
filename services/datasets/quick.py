"""The short way through a row in which nothing is odd; whatever it does not know goes the long way (turns.py)."""

from __future__ import annotations

from typing import Any

from services.datasets.formats import Format
from services.datasets.rows import Row
from services.datasets.turns import ROLES, is_garbled

_ALPACA = {"instruction", "input", "response"}


def plain_parts(row: Row, form: Format) -> tuple[str, ...] | None:
    """Role, text, role, text … of a row in which questions and answers alternate and nothing is to be said.

    None: anything else, to be looked at by ``turns.turns_of`` and ``turns.problems``.
    """
    if form.kind == "messages":
        return _of_messages(row.get(form.roles["messages"])) if len(form.roles) == 1 else None
    if form.kind == "response" and {"query", "response"} <= form.roles.keys() <= {"query", "response", "system"}:
        return _of_pair(row.get(form.roles["query"]), row.get(form.roles["response"]), _system(row, form))
    if form.kind == "alpaca" and form.roles.keys() in ({"instruction", "input", "output"}, _ALPACA):
        question, more = row.get(form.roles["instruction"]), row.get(form.roles["input"])
        if more and _is_plain(question):
            question = f"{question}\n{more}" if _is_plain(more) else None
        return _of_pair(question, row.get(form.roles.get("output") or form.roles["response"]), None)
    return None


def _system(row: Row, form: Format) -> Any:
    column = form.roles.get("system")
    return None if column is None else row.get(column)


def _of_pair(question: Any, answer: Any, system: Any) -> tuple[str, ...] | None:
    if not (_is_plain(question) and _is_plain(answer)):
        return None
    parts = ("user", question, "assistant", answer)
    if system is None:
        return parts
    return ("system", system, *parts) if _is_plain(system) else None


def _of_messages(messages: Any) -> tuple[str, ...] | None:
    if type(messages) is not list:
        return None
    parts: list[str] = []
    before = ""
    for message in messages:
        if type(message) is not dict or len(message) != 2:
            return None
        if "from" in message:
            sender = message["from"]
            role, text = ROLES.get(sender) if type(sender) is str else None, message.get("value")
        else:
            role, text = message.get("role"), message.get("content")
        if type(text) is not str or "<" in text or not text or text.isspace():
            return None
        if not text.isascii() and is_garbled(text):
            return None
        if role == "user":
            if before == "user":
                return None
            before = role
        elif role == "assistant":
            if before != "user":
                return None
            before = role
        elif role != "system" or parts:
            return None
        parts += (role, text)
    return tuple(parts) if before == "assistant" else None


def _is_plain(text: Any) -> bool:
    if type(text) is not str or "<" in text or not text or text.isspace():
        return False
    return text.isascii() or not is_garbled(text)


def differs(rejected: Any, answer: str) -> bool:
    """Whether a rejected answer is text that says something else than the chosen one."""
    return type(rejected) is str and bool(rejected) and not rejected.isspace() and rejected.split() != answer.split()
