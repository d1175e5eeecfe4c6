"""The syntax tree of a shell script."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tree_sitter import Language, Node, Parser

from services.errors import Key, Refused

DEEPEST = 100
"""Levels of the syntax tree."""


@cache
def parser() -> Parser:
    import tree_sitter_bash

    return Parser(Language(tree_sitter_bash.language()))


def refuse_depth(root: Node) -> None:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise Refused("import_line", line=line_of(node), why=Key("importing.too_deep"))
        waiting += [(child, depth + 1) for child in node.children]


def torn_lines(root: Node) -> list[tuple[int, int]]:
    """The lines that the grammar cannot make sense of."""
    found, waiting = set(), [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.type == "ERROR" or node.is_missing:
            found.add((line_of(node), node.end_point.row + 1))
        waiting += [child for child in node.children if child.has_error]
    return sorted(found)


def without_placeholders(source: bytes) -> bytes:
    """``<your-model>``, which a shell would take for two redirections, in quotes."""
    for _ in range(50):
        redirect = _placeholder(parser().parse(source).root_node, source)
        if redirect is None:
            break
        start, end = redirect.start_byte, redirect.end_byte + 1
        source = source[:start] + b"'" + source[start:end] + b"'" + source[end:]
    return source


def _placeholder(root: Node, source: bytes) -> Node | None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "file_redirect" and source[node.start_byte : node.start_byte + 1] == b"<":
            inside = source[node.start_byte + 1 : node.end_byte]
            if source[node.end_byte : node.end_byte + 1] == b">" and not set(inside) & set(b"'\n") and inside.strip():
                return node
        waiting += reversed(node.children)
    return None


def option_value(words: Sequence[str], names: Sequence[str]) -> str:
    """The value of an option among ``words`` (``--name=value``, ``--name value``, ``-Nvalue``), or ""."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        for name in names:
            if word == name:
                return following
            if word.startswith(name + "="):
                return word[len(name) + 1 :]
            if len(name) == 2 and word.startswith(name) and not word.startswith("--"):
                return word[2:]
    return ""


def line_of(node: Node) -> int:
    return int(node.start_point.row) + 1
