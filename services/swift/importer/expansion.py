"""What a shell makes of the words of a command: variables, quotes, arithmetic. Nothing is run and nothing is read."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from services.swift.importer import arithmetic
from services.swift.importer.arithmetic import NotANumber
from services.swift.importer.substitution import output_of
from services.swift.importer.text import Text, Word

Fields = list[Text]
"""What one part of a word becomes: usually one text; several where a shell splits it; none where it vanishes."""

ALL_OF_IT = re.compile(r'"\$(@|\{@\}|\{\w+\[@\]\})"')
"""``"$@"`` and ``"${names[@]}"``, which become any number of words though they are quoted."""
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


@dataclass
class Scope:
    """The variables and functions at one point of a script."""

    variables: dict[str, Text | tuple[Text, ...]] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    functions: dict[str, Node] = field(default_factory=dict)
    arguments: tuple[Text, ...] | None = None
    """``$1`` …; None: those of the script, which nobody knows."""
    folder: str = ""
    """Where ``cd`` has gone."""
    base: str = ""
    """The folder the script lies in and is taken to be started in; "" where nobody knows."""

    def here(self, path: str = "") -> str:
        """``path`` as a program started now would find it."""
        return posixpath.normpath(posixpath.join(self.base, self.folder, path))

    def copy(self) -> Scope:
        return replace(
            self, variables=dict(self.variables), exported=set(self.exported), functions=dict(self.functions)
        )

    def environment(self) -> dict[str, Text]:
        found = {name: self.variables.get(name) for name in sorted(self.exported)}
        return {name: value for name, value in found.items() if isinstance(value, Text)}


@dataclass
class Expander:
    """Makes words of the nodes of one script."""

    source: bytes
    scope: Scope
    assumed_unset: set[str] = field(default_factory=set)
    """Variables that a decision took to be unset, because the script does not set them."""

    used: set[str] = field(default_factory=set)
    """Variables whose value was asked for."""

    def raw(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def words(self, node: Node) -> list[Word]:
        """The words that one argument of a command becomes."""
        line = node.start_point.row + 1
        bare = node.type in ("simple_expansion", "expansion", "command_substitution")
        if node.type == "string" and ALL_OF_IT.fullmatch(self.raw(node)):
            bare = True
        return [Word(text, line, bare and not text.known) for text in self._fields(node, False)]

    def text(self, node: Node | None) -> Text:
        """One text, as in an assignment, where a shell splits nothing."""
        return _joined(self._fields(node, True)) if node is not None else Text()

    def _fields(self, node: Node, quoted: bool) -> Fields:
        read: Callable[[Node, bool], Fields] | None = {
            "arithmetic_expansion": self._arithmetic,
            "command_substitution": self._substitution,
            "concatenation": self._parts,
            "expansion": self._expansion,
            "process_substitution": self._unknown,
            "simple_expansion": self._variable,
            "string": self._string,
            "translated_string": self._parts,
        }.get(node.type)
        if read is not None:
            return read(node, quoted)
        raw = self.raw(node)
        if node.type == "raw_string":
            return [Text(raw[1:-1])]
        if node.type == "ansi_c_string":
            return [Text(_unescaped(raw[2:-1], ESCAPES))]
        if node.type in ("string_content", "heredoc_content"):
            return [Text(_unescaped(raw, {char: char for char in '"$\\`'} | {"\n": ""}, keep=True))]
        if node.type in ("command_name", "array") or (node.child_count and node.type not in ("word", "number")):
            return self._parts(node, quoted)
        return [Text(raw[1:] if raw.startswith("$'") else _unescaped(raw, {"\n": ""}))]

    def _parts(self, node: Node, quoted: bool) -> Fields:
        return self._parts_of(node.children, quoted)

    def _parts_of(self, nodes: Sequence[Node], quoted: bool) -> Fields:
        return _concatenated(self._fields(child, quoted) for child in nodes if child.type not in ("$", "comment"))

    def _string(self, node: Node, _: bool) -> Fields:
        inner = [child for child in node.children[1:-1] if child.type != "string_content"]
        whole = len(inner) == 1 and inner[0].end_byte - self._start(inner[0]) == node.end_byte - node.start_byte - 2
        if whole and inner[0].type in ("expansion", "simple_expansion"):
            return self._fields(inner[0], True)
        return self._text(node)

    def _text(self, node: Node) -> Fields:
        end = max(node.start_byte + 1, node.end_byte - 1)
        return [self.between(node, node.start_byte + 1, end, node.children[1:-1])]

    def between(self, node: Node, start: int, end: int, children: Sequence[Node]) -> Text:
        """The text from byte ``start`` to ``end``, in which only ``children`` are expanded."""
        found, at = Text(), start
        for child in children:
            if child.start_byte < at or child.end_byte > end:
                continue
            found = found + self._plain(at, self._start(child)) + _joined(self._fields(child, True))
            at = child.end_byte
        return found + self._plain(at, end)

    def _start(self, node: Node) -> int:
        """Where ``${…}`` begins; the grammar counts white space before it among it."""
        if node.type not in ("expansion", "simple_expansion", "command_substitution", "arithmetic_expansion"):
            return node.start_byte
        source = self.source[node.start_byte : node.end_byte]
        return node.start_byte + len(source) - len(source.lstrip(b" \t\r\n\\"))

    def _own(self, node: Node) -> str:
        return self.source[self._start(node) : node.end_byte].decode("utf-8", "replace")

    def _plain(self, start: int, end: int) -> Text:
        raw = self.source[start:end].decode("utf-8", "replace")
        return Text(_unescaped(raw, {char: char for char in '"$\\`'} | {"\n": ""}, keep=True))

    def _variable(self, node: Node, quoted: bool) -> Fields:
        name = self._own(node).removeprefix("$")
        return self._split(self._value(name), node, quoted, whole=name in "@*")

    def _value(self, name: str) -> Text | tuple[Text, ...] | None:
        scope = self.scope
        self.used.add(name)
        if name in ("@", "*"):
            return scope.arguments
        if name == "#":
            return Text(str(len(scope.arguments or ())))
        if name.isdigit():
            number = int(name) if len(name) < 4 else 0
            known = scope.arguments is not None and number > 0
            return None if not known else (*(scope.arguments or ()), *([Text()] * 1000))[number - 1]
        found = scope.variables.get(name)
        return {"HOME": Text("~"), "PWD": Text(scope.here())}.get(name) if found is None else found

    def _split(self, value: Text | tuple[Text, ...] | None, node: Node, quoted: bool, whole: bool = False) -> Fields:
        if value is None:
            return self._unknown(node, quoted)
        if isinstance(value, tuple):
            values = list(value) if whole else list(value[:1])
            return values if quoted else [piece for one in values for piece in self._split(one, node, False)]
        return [value] if quoted else _split(value)

    def _unknown(self, node: Node, _: bool) -> Fields:
        raw = self._own(node)
        return [Text(raw, (raw,))]

    def _arithmetic(self, node: Node, quoted: bool) -> Fields:
        try:
            inner = [child for child in node.children if child.is_named]
            if len(inner) != 1:
                raise NotANumber
            return [Text(str(self.number(inner[0])))]
        except NotANumber:
            return self._unknown(node, quoted)

    def number(self, node: Node, depth: int = 0) -> int:
        """What an arithmetic expression comes to. Raises NotANumber."""
        if depth > 50:
            raise NotANumber
        inner = [child for child in node.children if child.type not in ("(", ")")]
        if node.type == "parenthesized_expression" and len(inner) == 1:
            return self.number(inner[0], depth + 1)
        if node.type == "binary_expression" and len(inner) == 3:
            left, right = self.number(inner[0], depth + 1), self.number(inner[2], depth + 1)
            return arithmetic.apply(self.raw(inner[1]), left, right)
        if node.type == "unary_expression" and len(inner) == 2:
            value = self.number(inner[1], depth + 1)
            return {"-": -value, "+": value, "!": int(not value), "~": ~value}[self.raw(inner[0])]
        if node.type == "ternary_expression" and len(inner) == 5:
            return self.number(inner[2 if self.number(inner[0], depth + 1) else 4], depth + 1)
        if node.type in ("variable_name", "word") and self.raw(node).isidentifier():
            named = self._value(self.raw(node))
            text = named if isinstance(named, Text) else Text("", ("?",))
        elif node.type in ("assignment", "postfix_expression", "binary_expression"):
            raise NotANumber
        else:
            text = self.text(node)
        if not text.known:
            raise NotANumber
        return arithmetic.number(text.value)

    def _substitution(self, node: Node, quoted: bool) -> Fields:
        found = output_of(self, [child for child in node.children if child.is_named])
        return self._unknown(node, quoted) if found is None else self._split(found, node, quoted)

    def _expansion(self, node: Node, quoted: bool) -> Fields:
        """``${…}``."""
        parts = node.children[1:-1]
        prefix = self.raw(parts[0]) if parts and parts[0].type in ("#", "!") and len(parts) > 1 else ""
        target, *rest = parts[1:] if prefix else (parts or [node])
        value, whole = self._target(target)
        if prefix == "#":
            if isinstance(value, tuple) and whole:
                return [Text(str(len(value)))]
            known = isinstance(value, Text) and value.known
            return [Text(str(len(value.value)))] if known else self._unknown(node, quoted)  # type: ignore[union-attr]
        if prefix == "!":
            known = isinstance(value, Text) and value.known
            return self._split(self._value(value.value) if known else None, node, quoted)  # type: ignore[union-attr]
        if not rest:
            return self._split(value, node, quoted, whole)
        sign = self.raw(rest[0])
        if whole and sign in ("+", ":+"):  # ${names[@]+"${names[@]}"}: nothing at all of an empty array
            return self._parts_of(rest[1:], quoted) if value else []
        start = rest[0].end_byte
        operand = self.between(node, start, node.end_byte - 1, rest[1:])
        if isinstance(value, tuple) and sign.startswith(":") and sign not in (":-", ":=", ":+", ":?"):
            return self._unknown(node, quoted)
        one = value if isinstance(value, Text) else value[0] if value else None
        found = self._changed(one, sign, operand, rest[1:])
        if found is not None and found is one:
            return self._split(value, node, quoted, whole)
        if sign in (":=", "=") and found is not None:
            self.scope.variables[self.raw(target)] = found
        return self._split(found, node, quoted)

    def _target(self, node: Node) -> tuple[Text | tuple[Text, ...] | None, bool]:
        """The value of ``name`` or ``name[index]``, and whether all of an array is meant."""
        if node.type != "subscript":
            name = self.raw(node)
            return self._value(name), name in ("@", "*")
        name, index = self.raw(node.children[0]), self.raw(node.children[2]) if node.child_count > 2 else "0"
        value = self._value(name)
        if index in ("@", "*"):
            return (value,) if isinstance(value, Text) else value, True
        if isinstance(value, tuple):
            at = self.text(node.children[2]).value
            return (value[int(at)] if at.isdigit() and len(at) < 6 and int(at) < len(value) else None), False
        return (value if index == "0" else None), False

    def _changed(self, value: Text | None, sign: str, operand: Text, nodes: Sequence[Node]) -> Text | None:
        """``value`` after an operator of ``${…}``; None where that cannot be known."""
        empty = value is None or (value.value == "" and sign.startswith(":"))
        if sign in (":-", "-", ":=", "="):
            return operand if empty else value
        if sign in (":+", "+"):
            return Text() if empty else operand
        if sign in (":?", "?"):
            return None if empty else value
        if value is None or not value.known or not operand.known:
            return None
        if sign in ("#", "##", "%", "%%"):
            return Text(_trimmed(value.value, operand.value, sign))
        if sign in ("/", "//") and nodes:
            pattern, _, new = operand.value.partition("/")
            if any(char in pattern for char in "*?[\\") or not pattern:
                return None
            return Text(value.value.replace(pattern, new, -1 if sign == "//" else 1))
        if sign in ("^^", ",,"):
            return Text(value.value.upper() if sign == "^^" else value.value.lower())
        if sign == ":":
            numbers = operand.value.split(":")
            if all(one.strip().isdigit() and len(one) < 8 for one in numbers) and len(numbers) < 3:
                start, *length = (int(one) for one in numbers)
                return Text(value.value[start : start + length[0] if length else None])
        return None


def _split(value: Text) -> Fields:
    """``value`` at its white space, but not within the parts that are unknown."""
    text = value.value
    for number, part in enumerate(value.unknown):
        text = text.replace(part, f"\0{number}\0", 1)
    found = []
    for piece in text.split():
        inside = [part for number, part in enumerate(value.unknown) if f"\0{number}\0" in piece]
        whole = piece
        for number, part in enumerate(value.unknown):
            whole = whole.replace(f"\0{number}\0", part)
        found.append(Text(whole, tuple(inside)))
    return found


def _joined(fields: Fields) -> Text:
    found = Text()
    for number, one in enumerate(fields):
        found = found + (Text(" ") + one if number else one)
    return found


def _concatenated(parts: object) -> Fields:
    """The fields of parts that stand without a space between them: the last of one joins the first of the next."""
    found: Fields = []
    for fields in parts:  # type: ignore[attr-defined]
        if not fields:
            continue
        found = [*found[:-1], found[-1] + fields[0], *fields[1:]] if found else list(fields)
    return found


def _unescaped(raw: str, known: dict[str, str], keep: bool = False) -> str:
    """``raw`` without its backslashes; where ``keep``, only those before a ``known`` character go."""
    if "\\" not in raw:
        return raw
    found, chars = [], iter(raw)
    for char in chars:
        if char != "\\":
            found.append(char)
            continue
        following = next(chars, "")
        found.append(known.get(following, "\\" + following if keep else following))
    return "".join(found)


def _trimmed(value: str, pattern: str, sign: str) -> str:
    """``value`` without the shortest (``#``, ``%``) or longest (``##``, ``%%``) beginning or end like ``pattern``."""
    if len(value) > 10_000 or len(pattern) > 200:
        return value
    at = range(len(value) + 1)
    lengths = list(at) if len(sign) == 1 else list(reversed(at))
    for length in lengths:
        cut = length if sign[0] == "#" else len(value) - length
        piece, rest = (value[:cut], value[cut:]) if sign[0] == "#" else (value[cut:], value[:cut])
        if fnmatch.fnmatchcase(piece, pattern):
            return rest
    return value
