"""How a shell script branches: ``if``, ``case``, loops, ``&&`` and ``||``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from tree_sitter import Node

from services.errors import Key
from services.paths import printable
from services.swift.importer import conditions
from services.swift.importer.expansion import Expander, Scope
from services.swift.importer.grammar import line_of
from services.swift.importer.text import Said, Script

TESTS = ("test_command", "compound_statement")
"""Conditions that hold no command."""
T = TypeVar("T")


class Flow:
    """The part of a walk through a script that chooses its way; what stands on the way is walked by the other part."""

    def __init__(self, expander: Expander, around: tuple[str, ...]) -> None:
        self.expander, self.script, self.around = expander, Script(), around

    @property
    def scope(self) -> Scope:
        return self.expander.scope

    def statement(self, node: Node, depth: int) -> None:
        raise NotImplementedError

    def sequence(self, nodes: Sequence[Node], depth: int) -> None:
        for node in nodes:
            self.statement(node, depth + 1)

    def _inside(self, around: tuple[str, ...], do: Callable[[], None]) -> None:
        before, self.around = self.around, around
        do()
        self.around = before

    def _head(self, node: Node, until: Node | None) -> str:
        end = until.start_byte if until is not None else node.end_byte
        text = self.expander.source[node.start_byte : end].decode("utf-8", "replace").split("\n")[0]
        return printable(text.strip().removesuffix(";").strip(), 100)

    def _if(self, node: Node, depth: int) -> None:
        """The branch that is known to be taken; where none is, all of them, and the first one's variables hold.

        What is decided only because a variable is not set is walked too, for the commands in it.
        """
        kept: Scope | None = None
        start = self.scope
        done, by_assumption = False, False
        for condition, head, statements in self._branches(node):
            truth, assumed = (True, False) if condition is None else self._holds(condition)
            if condition is not None and condition.type not in TESTS:
                self.statement(condition, depth)
            if done or truth is False:
                self._beside(head, statements, depth, assumed or by_assumption)
                continue
            self.expander.scope = start.copy()
            around = self.around if truth and kept is None else (*self.around, head)
            self._inside(around, lambda inner=statements: self.sequence(inner, depth))  # type: ignore[misc]
            kept = kept or self.scope
            done, by_assumption = bool(truth), assumed
        self.expander.scope = kept or start

    def _list(self, node: Node, depth: int) -> None:
        """``left && right`` and ``left || right``: the right one where it is not known that it is not reached."""
        left, right = node.children[0], node.children[-1]
        truth, assumed = self._holds(left)
        wanted = any(child.type == "&&" for child in node.children)
        if left.type not in TESTS:
            self.statement(left, depth)
        head = self._head(left, None)
        if truth is (not wanted):
            self._beside(head, [right], depth, assumed)
        elif truth is None and self._guards(left, right):
            self._skipped(head, [right])
        else:
            known = truth is not None or left.type not in TESTS
            around = self.around if known else (*self.around, head)
            self._inside(around, lambda: self.statement(right, depth))

    def _guards(self, left: Node, right: Node) -> bool:
        """``[ $steps -le 0 ] && steps=1``: a bound for a value that is not known, which is no value for it."""
        if left.type not in TESTS or right.type != "variable_assignment" or right.children[1].type != "=":
            return False
        return re.search(rf"\b{re.escape(self.expander.raw(right.children[0]))}\b", self.expander.raw(left)) is not None

    def _holds(self, condition: Node) -> tuple[bool | None, bool]:
        """Whether it holds, and whether only because some variable is not set."""
        return self._assuming(lambda: conditions.holds(self.expander, condition))

    def _assuming(self, decide: Callable[[], T]) -> tuple[T, bool]:
        """What ``decide`` returns, and whether it took some variable to be unset for that."""
        before, self.expander.assumed_unset = self.expander.assumed_unset, set()
        found = decide()
        assumed, self.expander.assumed_unset = self.expander.assumed_unset, before | self.expander.assumed_unset
        return found, bool(assumed)

    def _beside(self, head: str, statements: list[Node], depth: int, walk: bool) -> None:
        """A branch that is not taken: its commands where they might be run after all, else its flags."""
        calls, scope = len(self.script.calls), self.scope
        if walk:
            self.expander.scope = scope.copy()
            self._inside((*self.around, head), lambda: self.sequence(statements, depth))
            self.expander.scope = scope
        if len(self.script.calls) == calls:
            self._skipped(head, statements)

    def _skipped(self, head: str, nodes: Sequence[Node]) -> None:
        """Say which flags stand in a branch that is not taken."""
        flags: dict[str, None] = {}
        waiting = list(reversed(nodes))
        while waiting:
            node = waiting.pop()
            raw = self.expander.raw(node).strip("'") if node.type in ("word", "string_content", "raw_string") else ""
            flags |= {word.partition("=")[0]: None for word in raw.split() if word.startswith("--") and len(word) > 2}
            waiting += reversed(node.children)
        if flags:
            said = Key("importing.branch_skipped", head=head, line=line_of(nodes[0]), flags=", ".join(flags)[:400])
            self.script.said.append(Said(said, tuple(flags)))

    def _branches(self, node: Node) -> list[tuple[Node | None, str, list[Node]]]:
        found, start = [], 0
        children = node.children
        then = next((number for number, child in enumerate(children) if child.type == "then"), len(children) - 1)
        clauses = [child for child in children if child.type in ("elif_clause", "else_clause")]
        stop = children.index(clauses[0]) if clauses else len(children) - 1
        condition = next((child for child in children[1:then] if child.is_named), None)
        found.append((condition, self._head(node, children[then]), children[then + 1 : stop]))
        for clause in clauses:
            if clause.type == "elif_clause":
                inner = clause.children
                start = next((number for number, child in enumerate(inner) if child.type == "then"), len(inner) - 1)
                test = next((child for child in inner[1:start] if child.is_named), None)
                found.append((test, self._head(clause, inner[start]), inner[start + 1 :]))
            else:
                found.append((None, "else", clause.children[1:]))
        return found

    def _case(self, node: Node, depth: int) -> None:
        items = [child for child in node.children if child.type == "case_item"]
        subject = next((child for child in node.children if child.is_named), None)
        chosen, assumed = self._assuming(lambda: self._matching(subject, items))
        for item in items if chosen is not None else ():
            if item != chosen:
                self._beside(self._head(item, None), conditions.body(item), depth, assumed)
        for item in items if chosen is None else [chosen]:
            around = self.around if chosen is not None else (*self.around, self._head(node, None))
            self._inside(around, lambda inner=item: self.sequence(conditions.body(inner), depth))  # type: ignore[misc]

    def _matching(self, subject: Node | None, items: list[Node]) -> Node | None:
        return None if subject is None else conditions.matching(self.expander, subject, items)

    def _for(self, node: Node, depth: int) -> None:
        """Once, with the first value; what it repeats is said."""
        inner = [child for child in node.children if child.is_named]
        name = self.expander.raw(inner[0])
        values = [word for child in inner[1:-1] for word in self.expander.words(child)]
        if values:
            self.scope.variables[name] = values[0].text
        calls = len(self.script.calls)
        self._loop(node, inner[-1], depth)
        if len(values) > 1 and len(self.script.calls) > calls:
            others = printable(", ".join(word.value for word in values[1:]), 400)
            flags = tuple(part for word in values[1:] for part in word.value.split() if part.startswith("--"))
            said = Key("importing.loop_first", line=line_of(node), name=name, first=values[0].value, others=others)
            self.script.said.append(Said(said, flags))

    def _while(self, node: Node, depth: int) -> None:
        """Also what a loop waits for: ``until swift sft …; do sleep 9; done``."""
        *conditions_of, body = (child for child in node.children if child.is_named)
        around = (*self.around, self._head(node, body))
        wanted = [child for child in conditions_of if child.type not in TESTS]
        self._inside(around, lambda: self.sequence(wanted, depth))
        self._counting(node, depth)

    def _counting(self, node: Node, depth: int) -> None:
        self._loop(node, node.children[-1], depth)

    def _loop(self, node: Node, body: Node, depth: int) -> None:
        self._inside((*self.around, self._head(node, body)), lambda: self.sequence(body.children, depth))
