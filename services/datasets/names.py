"""The names of columns: which ones ms-swift knows, and the ``--columns`` that mend those it would misread."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from services.datasets.rows import Row
from services.datasets.wording import literal, role_of

Task = Literal["sft", "pt", "dpo", "orpo", "simpo", "cpo", "rm", "kto", "ppo", "grpo", "gkd"]
TASKS: tuple[Task, ...] = get_args(Task)
PAIRED = ("dpo", "orpo", "simpo", "cpo", "rm")
"""Tasks that learn from a better and a worse answer to the same prompt."""
PROMPTED = ("grpo", "ppo")
"""Tasks that need prompts only: the model writes the answers itself."""

CONVERSATIONS = ("messages", "conversation", "conversations")
SYSTEMS = ("system", "system_prompt")
QUERIES = ("query", "prompt", "input", "instruction", "question", "problem")
RESPONSES = (
    "response", "answer", "output", "targets", "target", "answer_key", "answers", "solution", "text", "completion",
    "content",
)  # fmt: skip
MEDIA = {"image": "images", "audio": "audios", "video": "videos"}
REJECTED = ("rejected_response", "rejected_messages")
KEPT = {"images", "videos", "audios", "tools", "objects", *REJECTED, "rejected_images", "rejected_tools", "label",
        "channel", "margin", "teacher_prompt", "chat_template_kwargs"}  # fmt: skip
"""Columns ms-swift keeps beside the conversation; it drops every other one without a word."""

FAMILIAR = {*CONVERSATIONS, *SYSTEMS, *QUERIES, *RESPONSES, *MEDIA, *KEPT, "history"}
OTHER_WORDS = {
    "问题": "question", "提问": "question", "题目": "question", "提示": "prompt", "提示词": "prompt",
    "指令": "instruction", "输入": "input", "输出": "output", "回答": "answer", "答案": "answer", "答复": "answer",
    "回复": "response", "系统": "system", "系统提示": "system", "对话": "conversations", "user": "query",
    "human": "query", "ask": "question", "assistant": "response", "bot": "response", "gpt": "response",
    "reply": "response",
}  # fmt: skip
"""Names ms-swift does not know -> the one it knows that surely means the same."""
_ROLES = {"question": "query", "prompt": "query", "answer": "response"}
OFFERED = ("context", "background", "persona", "passage", "document")
"""Columns ms-swift drops that a person may want to see as the system turn."""
_PAIRS = {
    "query": ("response",),
    "question": ("answer", "answers", "answer_key"),
    "prompt": ("completion", "response"),
    "instruction": ("output", "response"),
    "problem": ("solution",),
    "input": ("output", "target", "targets"),
}
"""Which answer column belongs to which question column, to decide between two of them."""


@dataclass(frozen=True)
class Attempt:
    """One way to read the names."""

    renames: Mapping[str, str]
    """The ``--columns`` of it."""
    note: str | None
    """The finding that tells of it."""
    confidence: float


def attempts_for(columns: Sequence[str], rows: Sequence[Row], task: Task) -> list[Attempt]:
    """Ways to read the names, the plainest first."""
    plain = {name: name.strip().lower() for name in columns}
    respelt = {name: to for name, to in plain.items() if to != name and to in FAMILIAR and to not in columns}
    translated = {
        name: OTHER_WORDS[to] for name, to in plain.items() if to in OTHER_WORDS and OTHER_WORDS[to] not in columns
    }
    both = respelt | translated
    named = {name: _ROLES.get(to, to) if name in translated else to for name, to in both.items()}
    attempts = [Attempt({}, None, 1.0), Attempt(respelt, "columns_spelling", 0.95)]
    attempts.append(Attempt(named, "columns_translated", 0.8))
    known = {both.get(name, name): name for name in columns}
    pairs = [(q, a) for q, answers in _PAIRS.items() for a in answers if q in known and a in known]
    if len(pairs) == 1:
        query, response = (known[word] for word in pairs[0])
        attempts.append(Attempt({query: "query", response: "response"}, "columns_chosen", 0.7))
        attempts.append(Attempt({response: "response"}, "columns_chosen", 0.7))
    if (guessed := _by_words(columns)) is not None:
        attempts.append(Attempt(guessed, "columns_guessed", 0.5))
    if task in PAIRED and (pair := _pair_renames(plain, rows)):
        attempts = [replace(one, renames={**one.renames, **pair}, note=one.note or "columns_pair") for one in attempts]
    if task == "kto" and "label" not in columns and (label := _label_column(plain, rows)) is not None:
        attempts = [replace(one, renames={**one.renames, label: "label"}) for one in attempts]
    return [one for number, one in enumerate(attempts) if one.renames or not number]


def _pair_renames(plain: Mapping[str, str], rows: Sequence[Row]) -> dict[str, str]:
    """``--columns`` for the names chosen and rejected, which ms-swift does not know; empty: they are not there."""
    by_name = {to: name for name, to in plain.items()}
    chosen, rejected = by_name.get("chosen"), by_name.get("rejected")
    if rejected is None or any(name in by_name for name in REJECTED):
        return {}
    worse = next((row[rejected] for row in rows if row.get(rejected) is not None), None)
    if _needs_writing(worse):
        return {}
    lists = isinstance(worse, list)
    turned = {rejected: "rejected_messages" if lists else "rejected_response"}
    if chosen is None or any(name in by_name for name in ("messages", "response")):
        return turned
    return {chosen: "messages" if lists else "response", **turned}


def _needs_writing(side: Any) -> bool:
    """Whether one side of a pair is what no renaming makes right: turns written into a text, which would be learnt as
    it stands, or turns without the question before them."""
    turns = literal(side) if isinstance(side, str) else side
    if not (isinstance(turns, list) and turns and all(isinstance(turn, dict) for turn in turns)):
        return False
    return isinstance(side, str) or not any(role_of(turn.get("role", turn.get("from"))) == "user" for turn in turns)


def _label_column(plain: Mapping[str, str], rows: Sequence[Row]) -> str | None:
    """The one column that marks answers as good or bad under another name."""
    found = [name for name, word in plain.items() if word in ("label", "labels", "is_good", "thumbs", "desirable")]
    return found[0] if len(found) == 1 else None


def _by_words(columns: Sequence[str]) -> dict[str, str] | None:
    """A question and an answer column by the whole words in their names (``user_question``), where it is one each."""
    found: dict[str, list[str]] = {"query": [], "response": []}
    for name in columns:
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+", name)}
        words |= {OTHER_WORDS[word] for word in words & OTHER_WORDS.keys()}
        if (asks := bool(words & {*QUERIES})) != bool(words & {*RESPONSES}):
            found["query" if asks else "response"].append(name)
    if any(len(names) != 1 for names in found.values()):
        return None
    return {names[0]: role for role, names in found.items()}
