"""Whether the condition of an ``if`` or ``case`` holds, as far as the text alone can say."""

from __future__ import annotations

import fnmatch

from tree_sitter import Node

from services.swift.importer.arithmetic import NotANumber, apply, number
from services.swift.importer.expansion import Expander
from services.swift.importer.text import Text

NUMBERS = {"-eq": "==", "-ne": "!=", "-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">="}
SAME = {"==": True, "=": True, "!=": False}


def holds(expander: Expander, node: Node, depth: int = 0) -> bool | None:
    """True, False, or None for what only a run can tell (whether a file is there, what a program says).

    A variable that the script never sets is taken as unset; ``expander.assumed_unset`` gathers those.
    """
    if depth > 50:
        return None
    inner = [child for child in node.children if child.type not in ("[", "]", "[[", "]]", "((", "))", "(", ")", ";")]
    if node.type == "negated_command" or (node.type == "unary_expression" and expander.raw(node.children[0]) == "!"):
        found = holds(expander, inner[-1], depth + 1)
        return None if found is None else not found
    if node.type == "list" or (node.type == "binary_expression" and expander.raw(node.children[1]) in ("&&", "||")):
        return _both(expander, inner, depth)
    if node.type in ("test_command", "parenthesized_expression", "compound_statement") and len(inner) == 1:
        return holds(expander, inner[0], depth + 1)
    if node.type == "unary_expression" and len(inner) == 2:
        text = _text(expander, inner[1])
        sign = expander.raw(inner[0])
        return None if text is None or sign not in ("-z", "-n") else (text == "") == (sign == "-z")
    if node.type == "binary_expression" and len(inner) == 3:
        return _compared(expander, inner)
    if node.type in ("string", "simple_expansion", "expansion", "word") and depth:
        text = _text(expander, node)
        return None if text is None else text != ""
    if node.type == "command":
        return {"true": True, ":": True, "false": False}.get(expander.raw(node))
    return None


def _both(expander: Expander, inner: list[Node], depth: int) -> bool | None:
    if len(inner) != 3:
        return None
    left, right = holds(expander, inner[0], depth + 1), holds(expander, inner[2], depth + 1)
    decides = expander.raw(inner[1]) == "||"
    if decides in (left, right):
        return decides
    return None if left is None or right is None else not decides


def _compared(expander: Expander, inner: list[Node]) -> bool | None:
    sign = expander.raw(inner[1])
    left, right = _text(expander, inner[0]), _text(expander, inner[2])
    if left is None or right is None:
        return None
    if sign in SAME:
        return (fnmatch.fnmatchcase(left, right) if len(right) < 200 else left == right) == SAME[sign]
    try:
        return bool(apply(NUMBERS.get(sign, sign), number(left), number(right)))
    except NotANumber:
        return None


def _text(expander: Expander, node: Node) -> str | None:
    found: Text = expander.text(node)
    if found.known:
        return found.value
    if all(part.startswith("$") and not part.startswith("$(") for part in found.unknown):
        expander.assumed_unset.update(found.unknown)
        rest = found.value
        for part in found.unknown:
            rest = rest.replace(part, "", 1)
        return rest
    return None


def matching(expander: Expander, subject: Node, items: list[Node]) -> Node | None:
    """The item of a ``case`` that ``subject`` falls into, or None where that cannot be known."""
    text = _text(expander, subject)
    for item in items:
        patterns = [child for child in item.children if child.is_named][: _patterns(item)]
        for pattern in patterns:
            if text is not None and fnmatch.fnmatchcase(text, expander.text(pattern).value[:200]):
                return item
    return None


def _patterns(item: Node) -> int:
    count = 0
    for child in item.children:
        if child.type == ")":
            break
        count += child.is_named
    return count


def body(item: Node) -> list[Node]:
    """The statements of a case's item."""
    ends = [number for number, child in enumerate(item.children) if child.type == ")"]
    return item.children[ends[0] + 1 :] if ends else []
