"""What the expressions of Python source come to, as far as its text says so: names, lists that are built up, strings.
Nothing of it is run.
"""

from __future__ import annotations

import ast
import json
import operator
from collections.abc import Callable
from typing import Any

from services.swift.importer import old_flags
from services.swift.importer.text import Text

MOST_STEPS = 20_000
NUMBERS: dict[type[ast.operator], Callable[[Any, Any], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class _Known(ast.expr):
    """What an expression came to at the point where it stood."""

    def __init__(self, text: Text) -> None:
        super().__init__()
        self.text = text


class Values:
    """The names of one source, as they are at the point that has been reached."""

    def __init__(self) -> None:
        self.names: dict[str, ast.expr] = {}
        self.functions: dict[str, ast.expr] = {}
        """Function -> what it returns."""
        self.steps = 0

    def _too_much(self) -> bool:
        """Whether names that stand for one another have been followed long enough."""
        self.steps += 1
        return self.steps > MOST_STEPS

    def grow(self, name: str, more: ast.expr) -> None:
        """``name += more``, of a list or a text."""
        before, after = self.listed(ast.Name(name)), self.listed(more)
        if before is not None:
            self.names[name] = ast.List([*before, *(after if after is not None else [ast.Starred(more)])])
        elif name in self.names:
            self.names[name] = _Known(self.text(self.names[name]) + self.text(more))

    def listed(self, node: ast.expr, depth: int = 0) -> list[ast.expr] | None:
        """The elements of a list, also of ``a + b`` and ``[*a, b]``; None where it is no list that the text shows."""
        node = self.resolved(node)
        if depth > 20 or self._too_much():
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.listed(node.left, depth + 1), self.listed(node.right, depth + 1)
            return None if left is None or right is None else left + right
        if not isinstance(node, ast.List | ast.Tuple):
            return None
        found: list[ast.expr] = []
        for one in node.elts:
            inner = self.listed(one.value, depth + 1) if isinstance(one, ast.Starred) else None
            found += inner if inner is not None else [one]
        return found

    def resolved(self, node: ast.expr) -> ast.expr:
        """What stands behind a name, ``names["key"]``, or a function of the source that builds it."""
        for _ in range(10):
            found: ast.expr | None = None
            if isinstance(node, ast.Name):
                found = self.names.get(node.id)
            elif isinstance(node, ast.Subscript):
                found = self._held(node.value, node.slice)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found = self.functions.get(node.func.id)
            elif isinstance(node, ast.Call) and name_of(node.func) == "get" and node.args:
                found = self._held(node.func.value, node.args[0]) if isinstance(node.func, ast.Attribute) else None
            if found is None or found is node:
                break
            node = found
        return node

    def _held(self, mapping: ast.expr, key: ast.expr) -> ast.expr | None:
        name = key.value if isinstance(key, ast.Constant) else None
        mapping = self.names.get(mapping.id, mapping) if isinstance(mapping, ast.Name) else mapping
        return dict(self.pairs(mapping) or ()).get(name) if isinstance(name, str) else None

    def assign(self, name: str, value: ast.expr) -> None:
        """``name = value``, in which ``name`` means what it was before."""
        elements = self.listed(value)
        if elements is not None:
            self.names[name] = ast.List(elements)
        elif any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value)):
            self.names[name] = _Known(self.text(value))
        else:
            self.names[name] = value

    def text(self, node: ast.expr, depth: int = 0) -> Text:
        """The text of an expression; what is no literal is unknown."""
        node = self.resolved(node)
        if isinstance(node, _Known):
            return node.text
        unknown = Text(ast.unparse(node)[:200], (ast.unparse(node)[:200],))
        if depth > 30 or self._too_much():
            return unknown
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool):
            return Text(str(node.value).lower() if isinstance(node.value, bool) else str(node.value))
        if isinstance(node, ast.JoinedStr):
            found = Text()
            for part in node.values:
                inner = part.value if isinstance(part, ast.FormattedValue) else part
                found = found + self.text(inner, depth + 1)
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
            number = self._number(node)
            if number is not None:
                return Text(number)
            both_text = isinstance(self.resolved(node.left), ast.Constant | ast.JoinedStr | ast.BinOp | _Known)
            return left + right if both_text and not _numeric(left) else unknown
        if isinstance(node, ast.Call):
            return self._called(node, depth) or unknown
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            listed = old_flags.listed_as(node.value.id, node.attr)
            return Text(listed) if listed else unknown
        if isinstance(node, ast.BinOp | ast.UnaryOp) and (number := self._number(node)) is not None:
            return Text(number)
        return self._value(node, unknown)

    def _called(self, node: ast.Call, depth: int) -> Text | None:
        """``str(a)``, ``os.path.join(a, b)``, ``" ".join(words)`` and ``shlex.join(words)``."""
        name, parts = name_of(node.func), node.args
        if name in ("str", "int", "float", "Path", "quote") and len(parts) == 1:
            return self.text(parts[0], depth + 1)
        between = "/" if ast.unparse(node.func) == "os.path.join" else " "
        if name != "join" or not parts:
            return None
        if between == " ":
            parts = self.listed(parts[0]) or []
            written = node.func.value if isinstance(node.func, ast.Attribute) else None
            between = str(written.value) if isinstance(written, ast.Constant) else " "
        texts = [self.text(one, depth + 1) for one in parts]
        found = texts[0] if texts else None
        for one in texts[1:]:
            found = (found or Text()) + Text(between) + one
        return found

    def _number(self, node: ast.expr, depth: int = 0) -> str | None:
        """What sums, products and quotients of numbers come to."""
        found = self._counted(node, depth)
        return None if found is None else str(found)

    def _counted(self, node: ast.expr, depth: int) -> int | float | None:
        node = self.resolved(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and depth < 30:
            inner = self._counted(node.operand, depth + 1)
            return None if inner is None else -inner
        if not isinstance(node, ast.BinOp) or type(node.op) not in NUMBERS or depth > 30 or self._too_much():
            return None
        left, right = self._counted(node.left, depth + 1), self._counted(node.right, depth + 1)
        if left is None or right is None or max(abs(left), abs(right)) > 1e15:
            return None
        try:
            return NUMBERS[type(node.op)](left, right)
        except ZeroDivisionError:
            return None

    def _value(self, node: ast.expr, unknown: Text) -> Text:
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return unknown
        if isinstance(value, dict | list | tuple):
            return Text(json.dumps(value, ensure_ascii=False, default=str))
        return Text(str(value))

    def pairs(self, mapping: ast.expr) -> list[tuple[str, ast.expr]] | None:
        """The names and values of ``{"a": 1}`` and ``dict(a=1)``."""
        if isinstance(mapping, ast.Dict) and all(isinstance(key, ast.Constant) for key in mapping.keys):
            return [(str(key.value), value) for key, value in zip(mapping.keys, mapping.values, strict=True)]  # type: ignore[union-attr]
        if isinstance(mapping, ast.Call) and name_of(mapping.func) == "dict" and not mapping.args:
            return [(one.arg, one.value) for one in mapping.keywords if one.arg]
        return None


def _numeric(text: Text) -> bool:
    return text.value.replace(".", "").replace("-", "").isdigit()


def name_of(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
