"""The few ``$(…)`` whose output can be worked out from the text alone. All others are named, and never run."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from tree_sitter import Node

from services.swift.importer import arithmetic
from services.swift.importer.arithmetic import NotANumber
from services.swift.importer.text import Text

if TYPE_CHECKING:
    from services.swift.importer.expansion import Expander

OWN_PATH = ("$0", "${0}", "$BASH_SOURCE", "${BASH_SOURCE}", "${BASH_SOURCE[0]}")


def output_of(expander: Expander, statements: list[Node]) -> Text | None:
    """What ``statements`` would print, or None: ``expr``, ``echo``, ``dirname``, ``basename``, ``pwd``,
    ``cd … && pwd``, and ``echo … | tr … | wc``.
    """
    if len(statements) != 1:
        return None
    node = statements[0]
    inner = [child for child in node.children if child.is_named]
    if node.type == "command":
        return _command(expander, node)
    if node.type == "list" and len(inner) == 2 and expander.raw(inner[1]) == "pwd":
        words = _words(expander, inner[0])
        goes = words is not None and len(words) == 2 and words[0].value == "cd" and words[1].known
        return Text(expander.scope.here(words[1].value)) if goes and words else None
    if node.type == "pipeline":
        return _pipeline(expander, inner)
    return None


def _words(expander: Expander, node: Node) -> list[Text] | None:
    if node.type == "redirected_statement":  # 2>/dev/null and the like
        node = node.children[0]
    if node.type != "command" or any(child.type == "variable_assignment" for child in node.children):
        return None
    return [word.text for child in node.children if child.is_named for word in expander.words(child)]


def _command(expander: Expander, node: Node) -> Text | None:
    words = _words(expander, node)
    if not words:
        return None
    name, given = words[0].value, words[1:]
    if name == "pwd" and not given:
        return Text(expander.scope.here())
    if name == "dirname" and given and given[-1].value in OWN_PATH:
        return Text(expander.scope.base or ".")
    if name in ("dirname", "basename", "realpath", "readlink") and given:
        return _path(name, given)
    if not all(word.known for word in given):
        return None
    if name == "expr":
        try:
            return Text(str(arithmetic.expr([word.value for word in given])))
        except (NotANumber, ValueError):
            return None
    if name == "echo":
        return Text(" ".join(word.value for word in given if word.value not in ("-n", "-e")))
    return None


def _path(name: str, given: list[Text]) -> Text | None:
    path = given[-1]
    if not path.known or (name == "readlink" and given[0].value != "-f"):
        return None
    if name == "dirname":
        return Text(posixpath.dirname(path.value) or ".")
    if name == "basename":
        return Text(posixpath.basename(path.value.rstrip("/"))) if len(given) == 1 else None
    return path


def _pipeline(expander: Expander, commands: list[Node]) -> Text | None:
    found = _command(expander, commands[0])
    for node in commands[1:]:
        words = _words(expander, node)
        if found is None or not words or not all(word.known for word in words):
            return None
        found = _filtered(found.value, [word.value for word in words])
    return found


def _counted(text: str) -> Text | None:
    """Whole-number arithmetic, as ``bc`` without a scale does it."""
    words = re.findall(r"\d+|[-+*/%()]", text)
    if "".join(words) != "".join(text.split()):
        return None
    try:
        return Text(str(arithmetic.expr(words)))
    except (NotANumber, ValueError):
        return None


def _filtered(text: str, words: list[str]) -> Text | None:
    """``text`` and the newline echo adds, through one filter that counts or exchanges characters."""
    if words[0] == "tr" and len(words) == 3:
        old, new = (word.replace("\\n", "\n").replace("\\t", "\t") for word in words[1:])
        return Text(text.replace(old, new)) if len(old) == len(new) == 1 else None
    if words in (["wc", "-l"], ["wc", "-w"]):
        return Text(str(text.count("\n") + 1 if words[1] == "-l" else len(text.split())))
    if words == ["bc"]:
        return _counted(text)
    if words[0] == "awk" and words[-1].replace(" ", "") == "{printNF}":
        comma = words[1:-1] in (["-F,"], ["-F", ","])
        return Text(str(len(text.split(",")) if comma else len(text.split()))) if comma or len(words) == 2 else None
    return None
