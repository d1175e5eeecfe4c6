"""Preference pairs as tutorials write them (chosen and rejected, in any shape) -> the names ms-swift knows.

ms-swift knows messages with ``rejected_response`` (the last answer alone differs) or ``rejected_messages``.
"""

from __future__ import annotations

from typing import Any

from services.datasets.names import CONVERSATIONS, QUERIES, SYSTEMS
from services.datasets.rows import Row
from services.datasets.wording import Message, literal, messages_of, text_of

CHOSEN = ("chosen", "chosen_response", "response_chosen", "preferred", "accepted")
REJECTED = ("rejected", "rejected_response", "response_rejected", "reject", "dispreferred", "rejected_messages")


def is_pair(row: Row) -> bool:
    """Whether ``row`` has a better and a worse answer under any of their names."""
    lower = {name.strip().lower() for name in row}
    return not lower.isdisjoint(CHOSEN) and not lower.isdisjoint(REJECTED)


def as_pair(row: Row) -> Row | None:
    """``row`` with messages that end in the better answer, and the worse one; None where either is missing."""
    columns = {name.strip().lower(): value for name, value in row.items()}
    chosen = next((columns[name] for name in CHOSEN if columns.get(name) is not None), None)
    rejected = next((columns[name] for name in REJECTED if columns.get(name) is not None), None)
    if chosen is None or rejected is None:
        return None
    before = _before(columns)
    better, worse = _turns(chosen, before), _turns(rejected, before)
    if not before and len(better) == len(worse) == 1:
        better, worse = _with_common_beginning(better, worse)
    if not better or not worse or better[-1]["role"] != "assistant" or worse[-1]["role"] != "assistant":
        return None
    better, worse = [*before, *better], [*before, *worse]
    if better[:-1] == worse[:-1]:
        return {"messages": better, "rejected_response": worse[-1]["content"]}
    return {"messages": better, "rejected_messages": worse}


def _before(columns: Row) -> list[Message]:
    """What stands before both answers: a system text, a conversation, a prompt."""
    turns: list[Message] = []
    system = next((columns[name] for name in SYSTEMS if columns.get(name)), None)
    if system is not None:
        turns.append({"role": "system", "content": system})
    asked = next((columns[name] for name in (*CONVERSATIONS, *QUERIES) if columns.get(name) is not None), None)
    if asked is None:
        return turns
    found = messages_of(asked) if not isinstance(asked, str) or literal(asked) is not asked else []
    found = found or ([{"role": "user", "content": text_of(asked)}] if not isinstance(asked, list | dict) else [])
    if found and found[-1]["role"] == "assistant":
        found.pop()
    extra = columns.get("input")
    if "instruction" in columns and extra and asked is columns["instruction"]:
        found[-1]["content"] = f"{found[-1]['content']}\n{extra}"
    return turns + found


def _turns(answer: Any, before: list[Message]) -> list[Message]:
    """The turns of one side, without those that stand before both."""
    turns = messages_of(answer) if not isinstance(answer, int | float) else []
    if not turns:
        return [{"role": "assistant", "content": text_of(answer)}]
    asked = [turn for turn in before if turn["role"] != "system"]
    for known in (before, asked):
        if known and [_said(turn) for turn in turns[: len(known)]] == [_said(turn) for turn in known]:
            return turns[len(known) :]
    if before and turns[0]["role"] == "user" and asked and _said(turns[0]) != _said(asked[0]):
        before.clear()  # the side is a whole conversation of its own
    return turns


def _said(turn: Message) -> tuple[object, object]:
    return turn["role"], turn["content"]


def _with_common_beginning(better: list[Message], worse: list[Message]) -> tuple[list[Message], list[Message]]:
    """Two plain texts that begin alike: the part they share is the prompt."""
    one, other = better[0]["content"], worse[0]["content"]
    if not isinstance(one, str) or not isinstance(other, str):
        return [], []
    length = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    cut = max(one.rfind(sign, 0, length) for sign in " \n") + 1
    prompt = one[:cut].strip()
    if not prompt or not one[cut:].strip() or not other[cut:].strip():
        return [], []
    asked: Message = {"role": "user", "content": prompt}
    return [asked, {**better[0], "content": one[cut:]}], [dict(asked), {**worse[0], "content": other[cut:]}]
