"""Conversations out of whatever stands in a row: the words people use for roles, and the shapes they write turns in."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import orjson

Message = dict[str, Any]
"""``role`` and ``content``, ms-swift's own; ``loss`` where the file says which turns are trained."""

ROLES = {
    "system": "system", "developer": "system", "系统": "system",
    "user": "user", "human": "user", "prompter": "user", "question": "user", "customer": "user", "client": "user",
    "用户": "user", "人类": "user",
    "assistant": "assistant", "gpt": "assistant", "bot": "assistant", "model": "assistant", "ai": "assistant",
    "chatgpt": "assistant", "chatbot": "assistant", "answer": "assistant", "助手": "assistant", "机器人": "assistant",
    "tool": "tool", "function": "tool", "tool_response": "tool", "function_response": "tool",
    "function-response": "tool", "observation": "tool", "observations": "tool", "ipython": "tool",
    "tool_call": "tool_call", "function_call": "tool_call", "function-call": "tool_call",
}  # fmt: skip
"""What files call a role, in lower case -> ms-swift's name."""
_ROLE_KEYS = ("role", "from", "speaker", "author")
_TEXT_KEYS = ("content", "value", "text", "message")
_ASKED = ("human", "user", "question", "query", "prompt", "instruction", "input")
_ANSWERED = ("assistant", "gpt", "bot", "answer", "response", "output", "completion")
_SPOKEN = re.compile(r"(?:^|\n\n)(Human|User|Assistant|System): ?")
_LONGEST_LITERAL = 1_000_000
MEDIA = {"image": "images", "image_url": "images", "audio": "audios", "input_audio": "audios", "video": "videos",
         "video_url": "videos"}  # fmt: skip


def role_of(word: object) -> object:
    """ms-swift's name for a role, whatever its case; an unknown word as it is."""
    if isinstance(word, dict):
        word = word.get("role")
    return ROLES.get(word.strip().lower(), word) if isinstance(word, str) else word


def text_of(value: object) -> object:
    """Numbers and truth values as text; None and everything else as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def literal(text: str) -> Any:
    """The list or object that ``text`` spells in JSON or in Python's notation; ``text`` itself where it is none."""
    shown = text.strip()
    if shown[:1] not in ("[", "{", "("):
        return text
    try:
        return orjson.loads(shown)
    except orjson.JSONDecodeError:
        pass
    try:
        value = ast.literal_eval(shown) if len(shown) < _LONGEST_LITERAL else text
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text
    return list(value) if isinstance(value, tuple) else value if isinstance(value, list | dict) else text


def messages_of(value: Any, media: dict[str, list[Any]] | None = None) -> list[Message]:
    """The turns that ``value`` holds: a list of turns in any spelling, of pairs or of texts by turns, one turn, a
    text such a list was written into, or "Human: … Assistant: …". Empty where it holds none.

    Pictures and the like that stand inside a turn are added to ``media`` (images, audios, videos).
    """
    media = {} if media is None else media
    if isinstance(value, str):
        value = literal(value)
    if isinstance(value, str):
        return spoken(value)
    if isinstance(value, dict):
        inner = next((value[key] for key in ("messages", "conversations", "conversation") if key in value), None)
        value = [value] if inner is None else inner
    if not isinstance(value, list):
        return []
    if value and all(isinstance(part, str) for part in value):
        return [{"role": ("user", "assistant")[place % 2], "content": part} for place, part in enumerate(value)]
    messages: list[Message] = []
    for part in value:
        if isinstance(part, dict):
            messages += _of_dict(part, media)
        elif isinstance(part, list | tuple) and len(part) >= 2:
            messages += _pair(part[0], part[1])
    return _results_in_order(messages)


def spoken(text: str) -> list[Message]:
    """The turns of "\\n\\nHuman: …\\n\\nAssistant: …"; empty for any other text."""
    found = list(_SPOKEN.finditer(text))
    if not found or text[: found[0].start()].strip():
        return []
    ends = [match.start() for match in found[1:]] + [len(text)]
    return [
        {"role": ROLES[match[1].lower()], "content": text[match.end() : end].strip()}
        for match, end in zip(found, ends, strict=True)
    ]


def _of_dict(part: Mapping[str, Any], media: dict[str, list[Any]]) -> list[Message]:
    role = next((role_of(part[key]) for key in _ROLE_KEYS if key in part), None)
    if role is None:
        return _pair(*(next((part[key] for key in keys if key in part), None) for keys in (_ASKED, _ANSWERED)))
    loss = {"loss": part["loss"]} if isinstance(part.get("loss"), bool) else {}
    content = _content(next((part[key] for key in _TEXT_KEYS if key in part), None), media)
    calls = literal(part["tool_calls"]) if isinstance(part.get("tool_calls"), str) else part.get("tool_calls")
    if role == "assistant" and calls:
        said = [{"role": role, "content": content, **loss}] if content else []
        return said + [_call(call, loss) for call in (calls if isinstance(calls, list) else [calls])]
    if role in ("tool", "tool_call") and isinstance(content, list | dict):
        content = orjson.dumps(content, default=str).decode()
    identity = {"id": part["tool_call_id"]} if part.get("tool_call_id") else {}
    return [{"role": role, "content": content, **loss, **identity}]


def _pair(asked: Any, answered: Any) -> list[Message]:
    turns = (("user", asked), ("assistant", answered))
    return [{"role": role, "content": text_of(text)} for role, text in turns if text is not None]


def _call(call: Any, loss: Message) -> Message:
    function = call.get("function", call) if isinstance(call, dict) else {"name": None}
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        arguments = literal(arguments)
    content = orjson.dumps({"name": function.get("name"), "arguments": arguments}, default=str).decode()
    identity = {"id": call["id"]} if isinstance(call, dict) and call.get("id") else {}
    return {"role": "tool_call", "content": content, **loss, **identity}


def _results_in_order(messages: list[Message]) -> list[Message]:
    """Tool results in the order of the calls they answer, as far as both carry ids; the ids taken out."""
    order = {one["id"]: place for place, one in enumerate(messages) if one["role"] == "tool_call" and "id" in one}
    start = 0
    while start < len(messages):
        end = start
        while end < len(messages) and messages[end]["role"] == "tool":
            end += 1
        messages[start:end] = sorted(messages[start:end], key=lambda one: order.get(one.get("id"), 0))
        start = end + 1
    return [{key: value for key, value in one.items() if key != "id"} for one in messages]


def _content(value: Any, media: dict[str, list[Any]]) -> Any:
    """A turn's content as text; blocks are joined, with a mark where a picture stood."""
    if not isinstance(value, list) or not all(isinstance(block, dict) and "type" in block for block in value):
        return text_of(value)
    texts: list[str] = []
    for block in value:
        kind = str(block["type"])
        if kind in MEDIA:
            found = block.get(kind) or block.get("url") or block.get("path")
            media.setdefault(MEDIA[kind], []).append(found.get("url") if isinstance(found, dict) else found)
            texts.append(f"<{MEDIA[kind][:-1]}>")
        else:
            texts.append(str(block.get("text") or ""))
    return "".join(texts)
