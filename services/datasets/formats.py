"""What the names of the columns mean to ms-swift, and the ``--columns`` that mends names it would misread.

ms-swift decides per file: a column conversation, conversations or messages (exactly so spelt) makes it a set of
conversations; else instruction AND input an Alpaca set; else a query and a response, found by their aliases.
Two columns for one role are both left alone, unless one already has the role's own name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from services.datasets.rows import Row

Task = Literal["sft", "pt"]

CONVERSATIONS = ("messages", "conversation", "conversations")
SYSTEMS = ("system", "system_prompt")
QUERIES = ("query", "prompt", "input", "instruction", "question", "problem")
RESPONSES = (
    "response", "answer", "output", "targets", "target", "answer_key", "answers", "solution", "text", "completion",
    "content",
)  # fmt: skip
MEDIA = {"image": "images", "audio": "audios", "video": "videos"}
KEPT = {"images", "videos", "audios", "tools", "objects", "rejected_response", "rejected_messages", "label", "channel",
        "margin", "chat_template_kwargs"}  # fmt: skip
"""Columns ms-swift keeps beside the conversation; it drops every other one without a word."""

_FAMILIAR = {*CONVERSATIONS, *SYSTEMS, *QUERIES, *RESPONSES, *MEDIA, *KEPT, "history"}
_OTHER_WORDS = {
    "问题": "question", "提问": "question", "题目": "question", "提示": "prompt", "提示词": "prompt",
    "指令": "instruction", "输入": "input", "输出": "output", "回答": "answer", "答案": "answer", "答复": "answer",
    "回复": "response", "系统": "system", "系统提示": "system", "对话": "conversations", "user": "query",
    "human": "query", "ask": "question", "assistant": "response", "bot": "response", "gpt": "response",
    "reply": "response",
}  # fmt: skip
"""Names ms-swift does not know -> the one it knows that surely means the same."""
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
class Format:
    """How the rows of one file are read. Column names are the file's own."""

    name: str | None
    """As people call it: messages, sharegpt, alpaca, question-answer …; None: no format was recognised."""
    kind: Literal["messages", "alpaca", "response", "none"]
    roles: Mapping[str, str] = field(default_factory=dict)
    """messages, system, query, response, history, instruction, input, output -> column."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The ``--columns`` to start ms-swift with; empty when the names are fine as they are."""
    problem: str | None = None
    """The ``finding.<code>`` that says why the file cannot be used with these columns."""
    note: str | None = None
    """The ``finding.<code>`` that says what ``columns`` does."""
    values: Mapping[str, object] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Columns beside the conversation that ms-swift keeps: images, tools, rejected_response …"""

    @property
    def mapping(self) -> dict[str, str]:
        """Column -> what it is to a person: messages, user, assistant, system, history, text, images …"""
        shown = {"query": "user", "response": "assistant", "output": "assistant"}
        mapping = {column: shown.get(role, role) for role, column in self.roles.items()}
        if self.kind == "response" and "query" not in self.roles and self.problem is None:
            mapping = {column: "text" if role == "assistant" else role for column, role in mapping.items()}
        return mapping | {column: MEDIA.get(column.lower(), column) for column in self.kept}


def detect(columns: Sequence[str], rows: Sequence[Row] = (), *, task: Task = "sft") -> Format:
    """The format of a file with these columns, in their order; ``rows`` are a few of its rows."""
    for renames, note in _attempts(columns):
        kind, roles = _understand(columns, renames)
        if _missing(kind, roles, task) is None:
            return _format(columns, rows, kind, roles, (renames, note))
    kind, roles = _understand(columns, {})
    return _problem(columns, kind, roles, task, rows)


def _attempts(columns: Sequence[str]) -> list[tuple[dict[str, str], str | None]]:
    """Ways to read the names, the plainest first: (``--columns``, the finding that tells of it)."""
    plain = {name: name.strip().lower() for name in columns}
    respelt = {name: to for name, to in plain.items() if to != name and to in _FAMILIAR and to not in columns}
    translated = {
        name: _OTHER_WORDS[to] for name, to in plain.items() if to in _OTHER_WORDS and _OTHER_WORDS[to] not in columns
    }
    attempts: list[tuple[dict[str, str], str | None]] = [({}, None), (respelt, "columns_spelling")]
    attempts.append((respelt | translated, "columns_translated"))
    known = {(respelt | translated).get(name, name): name for name in columns}
    pairs = [(q, a) for q, answers in _PAIRS.items() for a in answers if q in known and a in known]
    if len(pairs) == 1:
        query, response = (known[word] for word in pairs[0])
        attempts.append(({query: "query", response: "response"}, "columns_chosen"))
        attempts.append(({response: "response"}, "columns_chosen"))
    return [(renames, note) for renames, note in attempts if renames or note is None]


def _understand(columns: Sequence[str], renames: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """(kind, role -> column) as ms-swift reads the names after ``--columns``; kind "none" when it would stop."""
    origin = _renamed({name: name for name in columns}, renames)
    if origin is None:
        return "none", {}
    if any(name in origin for name in CONVERSATIONS):
        kind = "messages"
        wanted: tuple[str, ...] = ("messages", "system")
        aliases = dict.fromkeys(CONVERSATIONS, "messages") | dict.fromkeys(SYSTEMS, "system")
    else:
        alpaca = "instruction" in origin and "input" in origin
        kind = "alpaca" if alpaca else "response"
        wanted = ("query", "response", "system", "history")
        aliases = dict.fromkeys(SYSTEMS, "system") | dict.fromkeys(QUERIES, "query")
        aliases |= dict.fromkeys(RESPONSES, "response")
    final = _renamed(origin, aliases | MEDIA | {name: name for name in MEDIA.values()})
    if final is None:
        return "none", {}
    roles = {role: final[role] for role in wanted if role in final}
    if kind == "alpaca":
        roles.pop("query", None)
        roles |= {role: final[role] for role in ("instruction", "input", "output") if role in final}
        if "output" in roles:
            roles.pop("response", None)
    return kind, roles


def _renamed(origin: Mapping[str, str], renames: Mapping[str, str]) -> dict[str, str] | None:
    """Present name -> column of the file, after a renaming by ms-swift's rules; None when it raises."""
    by_lower = {name.lower(): name for name in origin}
    wanted = {by_lower[name.lower()]: to for name, to in renames.items() if name.lower() in by_lower}
    times = Counter(wanted.values())
    done = {name: to for name, to in wanted.items() if times[to] == 1 and name != to}
    if any(to in origin and to not in done for to in done.values()):
        return None
    return {done.get(name, name): column for name, column in origin.items()}


def _missing(kind: str, roles: Mapping[str, str], task: Task) -> str | None:
    """What keeps ms-swift from training the right text: none, messages, response, query, or nothing (None)."""
    if kind == "none":
        return "none"
    if kind == "messages":
        return None if "messages" in roles else "messages"
    if "response" not in roles and "output" not in roles:
        return "response"
    if kind == "response" and "query" not in roles and task == "sft":
        return "query"
    return None


def _format(
    columns: Sequence[str],
    rows: Sequence[Row],
    kind: str,
    roles: Mapping[str, str],
    attempt: tuple[Mapping[str, str], str | None],
) -> Format:
    renames, note = attempt
    kept = tuple(name for name in columns if MEDIA.get(name.lower(), name) in KEPT and name not in roles.values())
    unused = tuple(name for name in columns if name not in roles.values() and name not in kept)
    shown = {name: to for name, to in renames.items() if name in roles.values()}
    pairs = ", ".join(f"{name} → {to}" for name, to in shown.items())
    return Format(
        name=_name(kind, roles, kept, rows),
        kind="messages" if kind == "messages" else "alpaca" if kind == "alpaca" else "response",
        roles=dict(roles),
        columns=shown,
        note=note,
        values={"pairs": pairs, "ignored": ", ".join(unused) or "–"},
        unused=unused,
        kept=kept,
    )


def _name(kind: str, roles: Mapping[str, str], kept: Sequence[str], rows: Sequence[Row]) -> str:
    if kind == "messages":
        first = next((row[roles["messages"]] for row in rows if row.get(roles["messages"])), None)
        name = "sharegpt" if _is_sharegpt(first) else "messages"
        extras = [extra for extra in ("tools", "images", "videos", "audios") if _holds(rows, kept, extra)]
        return "+".join([name, *extras]) + ("+rejected" if any("rejected" in column for column in kept) else "")
    if kind == "alpaca":
        return "alpaca"
    label = next((row["label"] for row in rows if row.get("label") is not None), None) if "label" in kept else None
    if label is not None and str(label).lower() in ("true", "false"):
        return "kto"
    words = [_word(roles[role]) for role in ("query", "response") if role in roles]
    return "-".join(words)


def _word(column: str) -> str:
    word = column.strip().lower()
    return _OTHER_WORDS.get(word, word)


def _is_sharegpt(first: Any) -> bool:
    turn = first[0] if isinstance(first, list) and first else None
    return isinstance(turn, dict) and "role" not in turn and bool({"from", "human", "user"} & set(turn))


def _holds(rows: Sequence[Row], kept: Sequence[str], role: str) -> bool:
    names = [name for name in kept if MEDIA.get(name.lower(), name) == role]
    return any(row.get(name) for row in rows for name in names)


def _problem(
    columns: Sequence[str], kind: str, roles: Mapping[str, str], task: Task, rows: Sequence[Row]
) -> Format:
    """The format of a file that cannot be used, with the finding that says why."""
    lower = {name.strip().lower(): name for name in columns}
    missing = _missing(kind, roles, task)
    values: dict[str, object] = {"columns": ", ".join(columns)}
    name = None
    if "chosen" in lower and "rejected" in lower:
        problem = "preference_set"
        prompt = next((word for word in QUERIES if word in lower), None)
        name = "-".join(["dpo", *([prompt] if prompt else []), "chosen", "rejected"])
    elif missing == "none":
        problem = "columns_twice"
    elif missing == "messages":
        problem, values["clashing"] = "columns_clash", _clashing(lower, CONVERSATIONS)
    elif missing == "query":
        problem = "columns_clash" if _several(lower, QUERIES) else "no_question_column"
        values |= {"clashing": _clashing(lower, QUERIES), "answer": roles["response"]}
        name = "-".join(_word(column) for column in roles.values())
    elif _several(lower, RESPONSES):
        problem, values["clashing"] = "columns_clash", _clashing(lower, RESPONSES)
    elif nested := next((key for row in rows[:1] for key in row if _is_rows(row[key])), None):
        problem, values["column"] = "rows_nested", nested
    else:
        problem = "no_answer_column" if "query" in roles or kind == "alpaca" else "columns_unknown"
    return Format(name, "none", dict(roles), problem=problem, values=values)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _several(lower: Mapping[str, str], words: Sequence[str]) -> bool:
    return sum(word in lower for word in words) > 1


def _clashing(lower: Mapping[str, str], words: Sequence[str]) -> str:
    return ", ".join(lower[word] for word in words if word in lower)
