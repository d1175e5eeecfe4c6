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
    """What ``statements`` would print, or None: ``expr``, ``echo``, ``seq``, ``dirname``, ``basename``, ``pwd``,
    ``which``, ``cd … && pwd``, and ``echo … | tr … | wc`` or ``wc … <<< …``.
    """
    if len(statements) != 1:
        return None
    node = statements[0]
    inner = [child for child in node.children if child.is_named]
    if node.type == "command":
        return _reading(expander, node, inner) or _command(expander, node)
    if node.type == "list" and len(inner) == 2 and expander.raw(inner[1]) == "pwd":
        words = _words(expander, inner[0])
        goes = words is not None and len(words) == 2 and words[0].value == "cd" and words[1].known
        return Text(expander.scope.here(words[1].value)) if goes and words else None
    if node.type == "pipeline":
        return _pipeline(expander, inner)
    if node.type == "redirected_statement":
        return _reading(expander, inner[0], inner) or _command(expander, inner[0])
    return None


def _reading(expander: Expander, command: Node, nodes: list[Node]) -> Text | None:
    """A filter that reads ``<<< text``, which stands among ``nodes``."""
    given = next((one for one in nodes if one.type == "herestring_redirect"), None)
    words = _words(expander, command) if given is not None else None
    text = expander.text(given.children[-1]) if given is not None else Text()
    if not words or not text.known or not all(word.known for word in words):
        return None
    return _filtered(text.value, [word.value for word in words])


def _words(expander: Expander, node: Node) -> list[Text] | None:
    if node.type == "redirected_statement":  # 2>/dev/null and the like
        node = node.children[0]
    if node.type != "command" or any(child.type == "variable_assignment" for child in node.children):
        return None
    named = [child for child in node.children if child.is_named and not child.type.endswith("_redirect")]
    return [word.text for child in named for word in expander.words(child)]


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
    if name == "which" or [name, given[0].value if given else ""] == ["command", "-v"]:
        return Text(given[-1].value) if given else None
    if name == "seq":
        return _sequence([word.value for word in given])
    if name == "expr":
        try:
            return Text(str(arithmetic.expr([word.value for word in given])))
        except (NotANumber, ValueError):
            return None
    if name == "echo":
        return Text(" ".join(word.value for word in given if word.value not in ("-n", "-e")))
    return None


def _sequence(words: list[str]) -> Text | None:
    """``seq -s, 0 7``: whole numbers one above the other."""
    separator = "\n"
    if words and words[0].startswith("-s"):
        separator = words.pop(0)[2:] or (words.pop(0) if words else "")
    if not 1 <= len(words) <= 2 or not all(word.isdigit() and len(word) < 5 for word in words):
        return None
    first, last = (1, int(words[0])) if len(words) == 1 else (int(words[0]), int(words[1]))
    return Text(separator.join(str(one) for one in range(first, last + 1)))


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
    if words[0] == "paste" and "-s" in "".join(words[1:]) and "," in "".join(words[1:]):
        return Text(text.replace("\n", ","))
    if words in (["wc", "-l"], ["wc", "-w"]):
        return Text(str(text.count("\n") + 1 if words[1] == "-l" else len(text.split())))
    if words == ["bc"]:
        return _counted(text)
    if words[0] == "awk" and words[-1].replace(" ", "") == "{printNF}":
        comma = words[1:-1] in (["-F,"], ["-F", ","])
        return Text(str(len(text.split(",")) if comma else len(text.split()))) if comma or len(words) == 2 else None
    return None
