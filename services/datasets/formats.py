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

from services.datasets.names import (
    CONVERSATIONS,
    KEPT,
    MEDIA,
    OFFERED,
    OTHER_WORDS,
    PAIRED,
    PROMPTED,
    QUERIES,
    REJECTED,
    RESPONSES,
    SYSTEMS,
    TASKS,
    Attempt,
    Task,
    attempts_for,
)  # fmt: skip
from services.datasets.rows import Row

__all__ = ["PAIRED", "PROMPTED", "TASKS", "Format", "Task", "detect", "listed", "task_of"]
_LISTED = 30
"""Columns that a sentence names."""

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
    kept: Mapping[str, str] = field(default_factory=dict)
    """Columns beside the conversation that ms-swift keeps -> its names: images, tools, rejected_response …"""
    confidence: float = 0.0
    """How sure the reading is, 0 to 1: names ms-swift knows exactly are 1, choices made for it are less."""

    @property
    def offered(self) -> tuple[str, ...]:
        """Unused columns that could be the system turn."""
        return () if "system" in self.roles else tuple(name for name in self.unused if name.lower() in OFFERED)

    def column(self, kept: str) -> str | None:
        """The file's column that ms-swift keeps as ``kept``."""
        return next((column for column, name in self.kept.items() if name == kept), None)

    @property
    def mapping(self) -> dict[str, str]:
        """Column -> what it is to a person: messages, user, assistant, system, history, text, images …"""
        shown = {"query": "user", "response": "assistant", "output": "assistant"}
        mapping = {column: shown.get(role, role) for role, column in self.roles.items()}
        if self.kind == "response" and "query" not in self.roles and self.problem is None:
            mapping = {column: "text" if role == "assistant" else role for column, role in mapping.items()}
        return mapping | dict(self.kept)


def task_of(command: str, args: Mapping[str, Any]) -> Task:
    """What a training run with this command and these arguments makes of its rows."""
    wanted = args.get("rlhf_type", "dpo") if command == "rlhf" else command
    return wanted if wanted in TASKS else "sft"


def detect(
    columns: Sequence[str],
    rows: Sequence[Row] = (),
    *,
    task: Task = "sft",
    given: Mapping[str, str] | None = None,
) -> Format:
    """The format of a file with these columns, in their order; ``rows`` are a few of its rows.

    ``given`` is a ``--columns`` of the person's own; then nothing else is tried.
    """
    attempts = [Attempt(dict(given), None, 1.0)] if given else attempts_for(columns, rows, task)
    for attempt in attempts:
        kind, roles = _understand(columns, attempt.renames)
        if _missing(kind, roles, task, _kept(columns, roles, attempt.renames)) is None:
            return _format(columns, rows, kind, roles, attempt, task)
    renames = attempts[0].renames
    kind, roles = _understand(columns, renames)
    return _problem(columns, kind, roles, task, rows, renames)


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


def _kept(columns: Sequence[str], roles: Mapping[str, str], renames: Mapping[str, str]) -> dict[str, str]:
    """Columns that ms-swift keeps beside the conversation -> its names for them."""
    named = {name: renames.get(name, MEDIA.get(name.lower(), name)) for name in columns}
    return {name: to for name, to in named.items() if to in KEPT and name not in roles.values()}


def _missing(kind: str, roles: Mapping[str, str], task: Task, kept: Mapping[str, str]) -> str | None:
    """What keeps ms-swift from training the right text: none, messages, response, query, rejected, label, or nothing
    (None).
    """
    if kind == "none":
        return "none"
    if kind == "messages" and "messages" not in roles:
        return "messages"
    if kind != "messages" and task not in PROMPTED and "response" not in roles and "output" not in roles:
        return "response"
    if kind == "response" and "query" not in roles and task != "pt":
        return "query"
    if task in PAIRED and not set(REJECTED) & set(kept.values()):
        return "rejected"
    if task == "kto" and "label" not in kept.values():
        return "label"
    return None


def _format(
    columns: Sequence[str],
    rows: Sequence[Row],
    kind: str,
    roles: Mapping[str, str],
    attempt: Attempt,
    task: Task,
) -> Format:
    kept = _kept(columns, roles, attempt.renames)
    unused = tuple(name for name in columns if name not in roles.values() and name not in kept)
    shown = {name: to for name, to in attempt.renames.items() if name in roles.values() or name in kept}
    shown = {name: to for name, to in shown.items() if name != to}
    pairs = ", ".join(f"{name} → {to}" for name, to in shown.items())
    return Format(
        name=_name(kind, roles, kept, rows, task, columns),
        kind="messages" if kind == "messages" else "alpaca" if kind == "alpaca" else "response",
        roles=dict(roles),
        columns=shown,
        note=attempt.note,
        values={"pairs": pairs, "ignored": listed(unused) or "–"},
        unused=unused,
        kept=kept,
        confidence=attempt.confidence,
    )


def _name(
    kind: str,
    roles: Mapping[str, str],
    kept: Mapping[str, str],
    rows: Sequence[Row],
    task: Task,
    columns: Sequence[str],
) -> str:
    label = next((column for column, name in kept.items() if name == "label"), None)
    value = next((row[label] for row in rows if row.get(label) is not None), None) if label else None
    if value is not None and (task == "kto" or str(value).lower() in ("true", "false")):
        return "kto"
    if rejected := [column for column, name in kept.items() if name in REJECTED]:
        lower = [name.strip().lower() for name in columns]
        if rejected[0].strip().lower() in REJECTED:
            return "dpo-" + rejected[0].strip().lower()
        prompt = next((word for word in (*QUERIES, *CONVERSATIONS) if word in lower), None)
        return "-".join(["dpo", *([prompt] if prompt else []), "chosen", "rejected"])
    if kind == "messages":
        first = next((row[roles["messages"]] for row in rows if row.get(roles["messages"])), None)
        name = "sharegpt" if _is_sharegpt(first) else "messages"
        return "+".join([name, *(extra for extra in ("tools", *MEDIA.values()) if _holds(rows, kept, extra))])
    if kind == "alpaca":
        return "alpaca"
    words = [(_word(roles[role]), role) for role in ("query", "response") if role in roles]
    return "-".join(word if word in (*QUERIES, *RESPONSES) else role for word, role in words)


def _word(column: str) -> str:
    word = column.strip().lower()
    return OTHER_WORDS.get(word, word)


def _is_sharegpt(first: Any) -> bool:
    turn = first[0] if isinstance(first, list) and first else None
    return isinstance(turn, dict) and "role" not in turn and bool({"from", "human", "user"} & set(turn))


def _holds(rows: Sequence[Row], kept: Mapping[str, str], role: str) -> bool:
    names = [column for column, name in kept.items() if name == role]
    return any(row.get(name) for row in rows for name in names)


def _problem(
    columns: Sequence[str],
    kind: str,
    roles: Mapping[str, str],
    task: Task,
    rows: Sequence[Row],
    renames: Mapping[str, str],
) -> Format:
    """The format of a file that cannot be used, with the finding that says why."""
    lower = {name.strip().lower(): name for name in columns}
    missing = _missing(kind, roles, task, _kept(columns, roles, renames))
    values: dict[str, object] = {"columns": listed(columns)}
    name = None
    if "chosen" in lower and "rejected" in lower:
        problem = "pairs_without_prompt" if task in PAIRED else "preference_set"
        prompt = next((word for word in QUERIES if word in lower), None)
        name = "-".join(["dpo", *([prompt] if prompt else []), "chosen", "rejected"])
    elif missing == "none":
        problem = "columns_twice"
    elif missing in ("rejected", "label"):
        problem = f"no_{missing}_column"
        name = _name(kind, roles, {}, rows, task, columns)
    elif missing == "messages":
        problem, values["clashing"] = "columns_clash", _clashing(lower, CONVERSATIONS)
    elif missing == "query":
        problem = "columns_clash" if _several(lower, QUERIES) else "no_question_column"
        values |= {"clashing": _clashing(lower, QUERIES), "answer": roles.get("response", "–")}
        name = "-".join(_word(column) for column in roles.values()) or None
    elif _several(lower, RESPONSES):
        problem, values["clashing"] = "columns_clash", _clashing(lower, RESPONSES)
    elif nested := next((key for row in rows[:1] for key in row if _is_rows(row[key])), None):
        problem, values["column"] = "rows_nested", nested
    else:
        problem = "no_answer_column" if "query" in roles or kind == "alpaca" else "columns_unknown"
    return Format(name, "none", dict(roles), problem=problem, values=values)


def listed(names: Sequence[str]) -> str:
    """Names for a sentence; of very many the first ones."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" … (+{more:,})" if more > 0 else "")


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _several(lower: Mapping[str, str], words: Sequence[str]) -> bool:
    return sum(word in lower for word in words) > 1


def _clashing(lower: Mapping[str, str], words: Sequence[str]) -> str:
    return ", ".join(lower[word] for word in words if word in lower)
