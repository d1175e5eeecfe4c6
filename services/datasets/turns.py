"""One row as a conversation, the way ms-swift will see it, and what is wrong with that row."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from services.datasets.formats import PAIRED, PROMPTED, Format, Task
from services.datasets.rows import Row

ROLES = {
    "system": "system", "user": "user", "human": "user",
    "assistant": "assistant", "gpt": "assistant", "bot": "assistant",
    "tool": "tool", "tool_response": "tool", "function_response": "tool", "function-response": "tool",
    "observation": "tool", "observations": "tool",
    "tool_call": "tool_call", "function_call": "tool_call", "function-call": "tool_call",
}  # fmt: skip


_ABOUT_ANSWERS = {"row_starts_with_assistant", "row_same_role_twice"}
_CONTROL = ("<|", "<start_of_turn>", "<end_of_turn>", "<eos>", "<bos>")
_GARBLED = re.compile(
    "Ã[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|â€[\u0080-\u00bf™œ˜¦“”]|Â[\u00a0-\u00bf]|[\u00e0-\u00ef][\u0080-\u009f]"
    "|ï»¿|\ufffd|锟斤拷"
)
"""UTF-8 that was once read as Latin-1 or Windows-1252, and what is left of bytes that could not be read at all."""


class Turn(NamedTuple):
    """``content`` is text, or whatever stands in its place in the file."""

    role: str
    content: Any
    loss: bool = True


class Unusable(Exception):
    """ms-swift drops this row; ``code`` names the ``finding.<code>``, ``what`` the offending word."""

    def __init__(self, code: str, what: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.what = what


def turns_of(row: Row, form: Format) -> list[Turn]:
    """The turns ms-swift makes of ``row``. Raises Unusable where its own code raises or drops the row."""
    if form.kind == "messages":
        turns = _from_messages(row.get(form.roles["messages"]), _cell(row, form, "system"))
    elif form.kind in ("response", "alpaca"):
        turns = _from_columns(row, form)
    else:
        turns = []
    if form.kept and (column := form.column("rejected_response")) is not None:
        rejected = row.get(column)
        if not isinstance(rejected, str) and not _are_turns(rejected):
            raise Unusable("row_rejected_missing")
        if turns and rejected == turns[-1].content:
            raise Unusable("row_rejected_same")
    return turns


def pair_problems(row: Row, form: Format, turns: Sequence[Turn]) -> list[str]:
    """Codes of what is wrong with the rejected side of a row. Raises Unusable where encoding drops the row."""
    if (column := form.column("rejected_messages")) is not None:
        rejected = row.get(column)
        if not _are_turns(rejected):
            raise Unusable("row_rejected_missing")
        value = rejected[-1].get("content", rejected[-1].get("value")) if rejected else None
        if value == turns[-1].content and turns[-1].role == "assistant":
            return ["row_rejected_equal"]
    else:
        value = row.get(form.column("rejected_response") or "")
    if not isinstance(value, str) or not isinstance(turns[-1].content, str):
        return []
    if not value.strip():
        return ["row_rejected_blank"]
    return ["row_rejected_spaces"] if value.split() == turns[-1].content.split() else []


def problems(turns: Sequence[Turn], task: Task) -> list[str]:
    """Codes of what is wrong with turns that ms-swift keeps. Raises Unusable where encoding drops the row."""
    found: list[str] = []
    before = ""
    answers = blank_answers = muted = 0
    for place, (role, value, loss) in enumerate(turns):
        content = value if type(value) is str else _text(value, role)
        if role in ("assistant", "tool_call"):
            answers += 1
            muted += not loss
            blank_answers += not content or content.isspace()
            if role == "tool_call":
                _check_call(content)
            elif before == "":
                found.append("row_starts_with_assistant")
            elif before == "assistant":
                found.append("row_same_role_twice")
        elif role == "user":
            if before == "user":
                found.append("row_same_role_twice")
            elif before == "tool":
                raise Unusable("row_turn_order")
            if not content or content.isspace():
                found.append("row_blank_question")
        elif role == "system":
            if place or type(value) is not str:
                raise Unusable("row_system_not_first" if place else "row_not_text")
            continue
        elif before == "":
            raise Unusable("row_turn_order")
        elif before == "user":
            continue
        before = role
        if "<" in content and holds_control_token(content):
            found.append("row_control_tokens")
        if not content.isascii() and is_garbled(content):
            found.append("row_garbled")
    if task == "pt":
        return _whole_text(turns)
    if task in PROMPTED:
        asked = any(turn.role == "user" for turn in turns)
        return [code for code in found if code not in _ABOUT_ANSWERS] if asked else ["row_no_question"]
    if before == "user" and task == "kto":
        return ["row_kto_no_answer"]
    if not answers or (before == "user" and task in PAIRED):
        return ["row_no_answer"]
    if blank_answers:
        found.append("row_blank_answer" if blank_answers == answers else "row_part_blank")
    if muted:
        found.append("row_not_trained" if muted == answers else "row_part_not_trained")
    if before == "user":
        found.append("row_ends_with_user")
    return found


def holds_control_token(text: str) -> bool:
    """Whether ``text`` holds a mark that many tokenizers read as the end or the beginning of a turn."""
    return any(mark in text for mark in _CONTROL) and ("<|" not in text or "|>" in text)


def is_garbled(text: str) -> bool:
    """Whether ``text`` was once read in the wrong encoding."""
    return _GARBLED.search(text) is not None


def _are_turns(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(turn, dict) for turn in value)


def _whole_text(turns: Sequence[Turn]) -> list[str]:
    """For pretraining every turn is text to learn; only a row without any is lost."""
    return [] if any(type(turn.content) is not str or turn.content.strip() for turn in turns) else ["row_blank_text"]


def _from_messages(value: Any, system: Any) -> list[Turn]:
    if type(value) is str:
        value = _literal(value)
    if not value or type(value) is str:
        raise Unusable("row_no_turns")
    if type(value) is not list or any(type(message) is not dict for message in value):
        raise Unusable("row_bad_shape")
    first = value[0]
    if not {"role", "content", "from", "value"} & first.keys():
        turns = [turn for message in value for turn in _pair(message)]
    else:
        turns = []
        for message in value:
            calls = message.get("tool_calls")
            if calls and message.get("role") == "assistant":
                turns += _openai_calls(message, calls)
                continue
            role = message["from"] if "from" in message else message.get("role")
            content = message["value"] if "value" in message else message.get("content")
            known = ROLES.get(role) if type(role) is str else None
            if known is None:
                raise Unusable("row_no_role" if role is None else "row_unknown_role", "" if role is None else str(role))
            if content is None:
                raise Unusable("row_null_content")
            turns.append(Turn(known, content, message.get("loss") is not False))
    if system is not None and turns and turns[0].role != "system":
        turns.insert(0, Turn("system", system))
    return turns


def _pair(message: Row) -> list[Turn]:
    """The older shape [{human: …, assistant: …}, …]."""
    question = next((message[key] for key in ("human", "user") if key in message), None)
    answer = next((message[key] for key in ("bot", "gpt", "assistant") if key in message), None)
    if question is None or answer is None:
        raise Unusable("row_bad_shape")
    return [Turn("user", question), Turn("assistant", answer)]


def _openai_calls(message: Row, calls: Any) -> list[Turn]:
    """An assistant turn with OpenAI's tool_calls; its content may be null."""
    loss = message.get("loss") is not False
    turns = [Turn("assistant", message["content"], loss)] if message.get("content") else []
    for call in calls if isinstance(calls, list) else [calls]:
        function = call.get("function", call) if isinstance(call, dict) else None
        if not isinstance(function, dict) or "name" not in function:
            raise Unusable("row_bad_call")
        arguments = function.get("arguments", {})
        if isinstance(arguments, str):
            try:
                arguments = orjson.loads(arguments)
            except orjson.JSONDecodeError:
                raise Unusable("row_bad_call") from None
        turns.append(Turn("tool_call", {"name": function["name"], "arguments": arguments}, loss))
    return turns


def _from_columns(row: Row, form: Format) -> list[Turn]:
    """history, query and response as ms-swift strings them together."""
    response = _cell(row, form, "output")
    if response is None:
        response = _cell(row, form, "response")
    if isinstance(response, list):
        if not response:
            raise Unusable("row_not_text")
        response = response[0]
    query = _alpaca_query(row, form) if form.kind == "alpaca" else _cell(row, form, "query")
    history = _cell(row, form, "history") or []
    if isinstance(history, str):
        history = _literal(history)
    turns: list[Turn] = []
    system = _cell(row, form, "system")
    if system is not None:
        turns.append(Turn("system", system))
    if not isinstance(history, list):
        raise Unusable("row_bad_shape")
    for pair in [*history, [query, response]]:
        if not isinstance(pair, (list, tuple)) or len(pair) < 2:
            raise Unusable("row_bad_shape")
        turns += [Turn(role, text) for role, text in zip(("user", "assistant"), pair, strict=False) if text is not None]
    if not turns or (len(turns) == 1 and turns[0].role == "system"):
        raise Unusable("row_no_turns")
    return turns


def _alpaca_query(row: Row, form: Format) -> Any:
    instruction, more = _cell(row, form, "instruction"), _cell(row, form, "input")
    query = f"{instruction}\n{more}" if instruction and more else instruction or more
    if type(query) is not str:
        raise Unusable("row_no_question" if query is None else "row_not_text")
    return query


def _cell(row: Row, form: Format, role: str) -> Any:
    column = form.roles.get(role)
    return None if column is None else row.get(column)


def _literal(text: str) -> Any:
    """Turns kept as text in one cell: JSON or Python's notation, as ms-swift reads them."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return ast.literal_eval(text.strip()) if len(text) < 1_000_000 else None
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            raise Unusable("row_bad_shape") from None


def _text(content: Any, role: str) -> str:
    """Content that is no plain text: blocks of text and pictures are taken, numbers are not."""
    if role in ("tool", "tool_call"):
        return orjson.dumps(content, default=str).decode()
    if isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content):
        return "".join(str(part.get("text") or f"<{part['type']}>") for part in content)
    if content == {}:
        return ""
    raise Unusable("row_not_text")


def _check_call(content: str) -> None:
    try:
        call = json.loads(content)
    except (ValueError, RecursionError):
        raise Unusable("row_bad_call") from None
    if not isinstance(call, dict) or "name" not in call:
        raise Unusable("row_bad_call")
