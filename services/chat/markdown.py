"""Parts a model's text into what it thought and what it answers."""

from __future__ import annotations

import re

_OPEN, _CLOSE = "<think>", "</think>"
_TAG = re.compile(r"(?<!`)</?think>")  # in backticks it is being talked about


def split_thought(text: str) -> tuple[str, str]:
    """(thought, answer) of ``text``, whole or as far as it has come; both stripped.

    A thought stands at the beginning: ``<think>…</think>``, nested or several in a row, not closed
    yet, or with only the closing tag, where the prompt already held the opening one. A tag further
    on in the answer is text. An opening tag that has only half arrived is not shown.
    """
    thoughts: list[str] = []
    rest = text.lstrip()
    while rest.startswith(_OPEN):
        thought, rest = _closed(rest)
        thoughts.append(thought)
        rest = rest.lstrip()
    if not thoughts and (tag := _TAG.search(rest)) is not None and tag[0] == _CLOSE:
        thoughts, rest = [rest[: tag.start()]], rest[tag.end() :]
    if rest and _OPEN.startswith(rest.rstrip()):
        rest = ""
    joined = "\n\n".join(stripped for thought in thoughts if (stripped := thought.strip()))
    return joined, rest.strip()


def _closed(text: str) -> tuple[str, str]:
    """(inside, after) of ``text`` that begins with the opening tag; all is inside while it is not closed."""
    depth, end = 0, None
    for tag in _TAG.finditer(text):
        depth += 1 if tag[0] == _OPEN else -1
        if tag[0] == _CLOSE:
            end = tag.end()
        if depth == 0:
            break
    if end is not None:  # fewer closed than opened: the last one closed counts
        return _TAG.sub("", text[:end]), text[end:]
    return re.sub(r"</?t?h?i?n?k?$", "", _TAG.sub("", text)), ""
