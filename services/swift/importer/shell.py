"""Reads a shell script into the commands it would run, without running anything: tree-sitter's grammar of bash
parses it, and this file walks the tree as a shell would walk the script.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from tree_sitter import Node

from services.errors import Key, Refused
from services.swift.importer.expansion import Expander, Scope
from services.swift.importer.flow import Flow
from services.swift.importer.grammar import (
    DEEPEST,
    line_of,
    option_value,
    parser,
    refuse_depth,
    torn_lines,
    without_placeholders,
)
from services.swift.importer.text import Call, Said, Script, Text, Word

LARGEST_SCRIPT = 256 * 1024
MOST_STEPS = 20_000
MOST_CALLS = 500
MOST_WORDS = 20_000
"""Of one command or array."""
SLURM_SETS = (
    (("--nodes", "-N"), ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")),
    (("--ntasks-per-node",), ("SLURM_NTASKS_PER_NODE",)),
    (("--cpus-per-task", "-c"), ("SLURM_CPUS_PER_TASK",)),
    (("--gpus-per-node",), ("SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE")),
)
"""Options of sbatch -> the variables that hold them in the job."""
BUILTINS = frozenset(
    ["set", "shift", "exit", "return", "break", "continue", "trap", "wait", "echo", "printf", "true", "false", ":", "[",
     "test", "sleep", "ulimit", "shopt", "umask", "popd", "pushd", "let", "read", "local", "type", "hash", "which"]
)  # fmt: skip
"""What only changes or asks the shell itself."""
PASSED_OVER = ("comment", "heredoc_body", "heredoc_end", "heredoc_content")


def read(text: str, scope: Scope | None = None, around: tuple[str, ...] = ()) -> Script:
    """The commands of ``text``. Raises Refused("import_too_large", "import_line")."""
    source = text.replace("\r\n", "\n").rstrip().removesuffix("\\").encode("utf-8", "replace")
    if len(source) > LARGEST_SCRIPT:
        raise Refused("import_too_large", limit=f"{LARGEST_SCRIPT >> 10} KiB")
    source = without_placeholders(source)
    root = parser().parse(source).root_node
    refuse_depth(root)
    walk = _Walk(Expander(source, scope or Scope()), around)
    walk.script.torn = torn_lines(root)
    walk.headers(root)
    walk.block(root, 0)
    walk.unused()
    if walk.expander.assumed_unset:
        names = ", ".join(sorted(walk.expander.assumed_unset)[:20])
        walk.script.said.append(Said(Key("importing.assumed_unset", names=names)))
    return walk.script


class _Walk(Flow):
    def __init__(self, expander: Expander, around: tuple[str, ...]) -> None:
        super().__init__(expander, around)
        self.steps = 0
        self.last: int | None = None
        """The call that the statement before this one was, for flags that a missing backslash cut off."""
        self.called: set[str] = set()
        self.statements: dict[str, Callable[[Node, int], None]] = {
            "case_statement": self._case,
            "command": self._command,
            "declaration_command": self._declaration,
            "for_statement": self._for,
            "function_definition": self._function,
            "if_statement": self._if,
            "redirected_statement": self._redirected,
            "subshell": self._subshell,
            "unset_command": self._unset,
            "variable_assignment": self._assignment,
            "list": self._list,
            "while_statement": self._while,
            "c_style_for_statement": self._counting,
        }

    def block(self, node: Node, depth: int) -> None:
        self.sequence(node.children, depth)
        if depth == 0:
            for name, function in list(self.scope.functions.items()):
                if name not in self.called:
                    with_it = (*self.around, f"{name}()")
                    self._inside(with_it, lambda body=function: self.block(body, 1))  # type: ignore[misc]

    def headers(self, root: Node) -> None:
        """What a job script asks Slurm for; the variables that Slurm makes of it are known then."""
        for node in root.children:
            raw = self.expander.raw(node)
            if node.type == "comment" and raw.startswith("#SBATCH"):
                self.script.headers += raw.removeprefix("#SBATCH").partition(" #")[0].split()
        for names, variables in SLURM_SETS:
            value = option_value(self.script.headers, names)
            for variable in variables if value.isdigit() else ():
                self.scope.variables[variable] = Text(value)

    def statement(self, node: Node, depth: int) -> None:
        self.steps += 1
        if depth > DEEPEST or self.steps > MOST_STEPS:
            raise Refused("import_line", line=line_of(node), why=Key("importing.too_deep"))
        if node.type in PASSED_OVER or not (node.is_named or node.child_count):
            return
        read_it = self.statements.get(node.type)
        before, self.last = self.last, None
        if read_it is None:
            self.last = before if node.type == "ERROR" else None
            self.sequence(node.children, depth)
        elif node.type == "command" and self._goes_on(node, before):
            self.last = before
        else:
            read_it(node, depth)

    def _goes_on(self, node: Node, before: int | None) -> bool:
        """Flags at the beginning of a line, which a shell would run as a program: a backslash is missing before them,
        or a comment stands between. They are taken to belong to the command before."""
        raw = self.expander.raw(node)
        if before is None or not raw.startswith("--") or before >= len(self.script.calls):
            return False
        call = self.script.calls[before]
        words = [word for child in node.children for word in self._word(child)]
        self.script.calls[before] = replace(call, words=(*call.words, *words))
        flags = tuple(word.value for word in words if word.value.startswith("--"))
        said = Key("importing.cut_off", line=line_of(node), flags=", ".join(flags))
        self.script.said.append(Said(said, flags))
        return True

    def unused(self) -> None:
        """Say which variables hold flags that no command gets."""
        for name, value in self.scope.variables.items():
            texts = value if isinstance(value, tuple) else (value,)
            words = [word for text in texts for word in _known(text).split()]
            flags = tuple(word.partition("=")[0] for word in words if word.startswith("--") and len(word) > 2)
            if flags and name not in self.expander.used:
                said = Key("importing.unused", name=name, flags=", ".join(flags)[:400])
                self.script.said.append(Said(said, flags))

    def _word(self, node: Node) -> list[Word]:
        raw = self.expander.raw(node)
        if node.type == "word" and raw.startswith(("\\ ", "\\\t")):  # a line break that was lost after its backslash
            return [Word(Text(raw.lstrip("\\ \t")), line_of(node))] if raw.strip("\\ \t") else []
        return self.expander.words(node)

    def _command(self, node: Node, _: int, stdin: Text | None = None, extra: Sequence[Node] = ()) -> None:
        env: dict[str, Text] = {}
        words: list[Word] = []
        for child in (*node.children, *extra):
            if child.type == "variable_assignment" and not words:
                name, value = self._assigned(child)
                if isinstance(value, Text):
                    env[name] = value
            elif child.type == "file_redirect":
                words += [word for one in self._arguments_after(child) for word in self._word(one)]
            elif child.type == "herestring_redirect":
                stdin = self.expander.text(child.children[-1])
            elif child.is_named and child.type not in ("comment", "heredoc_redirect"):
                words += self._word(child)
            self._refuse_many(len(words), node)
        if words and words[0].value == "read" and stdin is not None:
            self._read(words, env, stdin)
        elif words and not self._builtin(words, node):
            self._add(words, env, line_of(node), stdin)

    def _add(self, words: list[Word], env: dict[str, Text], line: int, stdin: Text | None) -> None:
        if len(self.script.calls) >= MOST_CALLS:
            raise Refused("import_line", line=line, why=Key("importing.too_many"))
        exported = self.scope.environment()
        only = frozenset(self.scope.variables) - frozenset(self.scope.exported) - frozenset(env)
        call = Call(tuple(words), line, exported | env, only, self.around, self.scope.folder, stdin)
        self.script.calls.append(call)
        self.last = len(self.script.calls) - 1

    def _builtin(self, words: list[Word], node: Node) -> bool:
        """Whether the command only changes the shell itself, or is a function of the script."""
        name, given = words[0].value, words[1:]
        if name in self.scope.functions:
            self._call_function(name, tuple(word.text for word in given), node)
        elif name == "cd":
            target = given[0].value if given else "~"
            self.scope.folder = posixpath.normpath(posixpath.join(self.scope.folder, target))
        elif name in ("source", ".") and given and not given[0].value.endswith("activate"):
            said = Key("importing.not_read", file=given[0].value, line=line_of(node))
            self.script.said.append(Said(said))
        elif name == "set" and "--" in [word.value for word in given]:
            start = [word.value for word in given].index("--") + 1
            self.scope.arguments = tuple(word.text for word in given[start:])
        elif name == "shift" and self.scope.arguments and not given:
            self.scope.arguments = self.scope.arguments[1:]
        elif name == "alias":
            self.script.said.append(Said(Key("importing.alias", line=line_of(node))))
        else:
            return name in BUILTINS or (name == "command" and bool(given) and given[0].value.startswith("-"))
        return True

    def _read(self, words: list[Word], env: dict[str, Text], stdin: Text) -> None:
        """``IFS=, read -ra names <<< "$list"`` and ``read -r type count <<< …``, with which scripts count cards."""
        options = "".join(word.value for word in words if word.value.startswith("-"))
        names = [word.value for word in words[1:] if not word.value.startswith("-")]
        if not names or not stdin.known:
            return
        text, separators = stdin.value.strip("\n"), env["IFS"].value if "IFS" in env else " \t"
        parts = re.split(f"[{re.escape(separators)}]", text) if separators else [text]
        if "a" in options:
            self.scope.variables[names[-1]] = tuple(Text(part) for part in parts if part or separators.strip())
            return
        for number, name in enumerate(names):
            rest = parts[number:] if name == names[-1] else parts[number : number + 1]
            self.scope.variables[name] = Text(separators[:1].join(rest))

    def _call_function(self, name: str, given: tuple[Text, ...], node: Node) -> None:
        self.called.add(name)
        if len(self.around) > 12:
            raise Refused("import_line", line=line_of(node), why=Key("importing.too_deep"))
        before = self.scope.arguments
        self.scope.arguments = given
        body = self.scope.functions[name]
        self._inside((*self.around, f"{name}()"), lambda: self.sequence(body.children, len(self.around)))
        self.scope.arguments = before

    def _arguments_after(self, redirect: Node) -> list[Node]:
        """The words behind a redirection's file, which the grammar takes for further files."""
        named = [child for child in redirect.children if child.is_named and child.type != "file_descriptor"]
        return named[1:]

    def _redirected(self, node: Node, depth: int) -> None:
        body, redirects = node.children[0], node.children[1:]
        texts = [one for one in redirects if one.type == "heredoc_redirect"]
        inner = [child for one in texts for child in one.children]
        stdin = self._heredoc(texts[0]) if texts else None
        for one in redirects:
            if one.type == "herestring_redirect":
                stdin = self.expander.text(one.children[-1])
        files = [one for one in (*redirects, *inner) if one.type == "file_redirect"]
        if body.type != "command":
            self.statement(body, depth)
        elif stdin is not None and self._writes(body, stdin, files):
            pass
        elif not (self.expander.raw(body).startswith("--") and self.last is not None):
            extra = [child for one in redirects if one.type == "file_redirect" for child in self._arguments_after(one)]
            self._command(body, depth, stdin, extra)
        self.sequence([one for one in inner if one.type in ("command", "pipeline", "list")], depth)

    def _heredoc(self, node: Node) -> Text:
        starts = [child for child in node.children if child.type == "heredoc_start"]
        bodies = [child for child in node.children if child.type == "heredoc_body"]
        if not bodies:
            return Text()
        body = bodies[0]
        if starts and self.expander.raw(starts[0])[:1] in "'\"\\":
            return Text(self.expander.raw(body))
        return self.expander.between(body, body.start_byte, body.end_byte, body.children)

    def _writes(self, body: Node, text: Text, files: list[Node]) -> bool:
        """Whether a here-document goes into a file, which is then remembered."""
        words = [word for child in body.children if child.is_named for word in self._word(child)]
        if not words or words[0].value not in ("cat", "tee"):
            return False
        targets = [self.expander.text(one.children[-1]) for one in files if one.child_count > 1]
        targets += [word.text for word in words[1:] if words[0].value == "tee"]
        for target in targets:  # of an unknown name the same words mean the same file
            if target.value:
                self.script.written[posixpath.normpath(posixpath.join(self.scope.folder, target.value))] = text
        return bool(targets)

    def _assigned(self, node: Node) -> tuple[str, Text | tuple[Text, ...]]:
        """The name and value of ``name=value``, ``name+=…`` and ``name=(…)``."""
        target, value = node.children[0], node.children[2] if node.child_count > 2 else None
        name, adds = self.expander.raw(target).partition("[")[0], node.child_count > 1 and node.children[1].type == "+="
        old = self.scope.variables.get(name)
        if value is not None and value.type == "array":
            before = (((old,) if isinstance(old, Text) else old) or ()) if adds else ()
            new = list(before)
            for child in value.children:
                if child.is_named and child.type != "comment":
                    new += [word.text for word in self._word(child)]
                    self._refuse_many(len(new), child)
            return name, tuple(new)
        text = self.expander.text(value)
        if target.type == "subscript":
            return name, (*(old if isinstance(old, tuple) else ()), text)
        return name, old + text if adds and isinstance(old, Text) else text

    def _refuse_many(self, count: int, node: Node) -> None:
        if count > MOST_WORDS:
            raise Refused("import_line", line=line_of(node), why=Key("importing.too_many_words"))

    def _assignment(self, node: Node, _: int) -> None:
        name, value = self._assigned(node)
        self.scope.variables[name] = value

    def _declaration(self, node: Node, depth: int) -> None:
        words = self.expander.raw(node.children[0]), [self.expander.raw(child) for child in node.children[1:]]
        exports = words[0] == "export" or (words[0] in ("declare", "typeset") and "-x" in words[1])
        for number, child in enumerate(node.children[1:], 1):
            if child.type == "variable_assignment":
                self._assignment(child, depth)
                name = self.expander.raw(child.children[0])
            elif child.type == "variable_name":
                if any(word.startswith("--") for word in words[1][number:]):
                    self._swallowed(node.children[number:])
                    return
                name = self.expander.raw(child)
            else:
                continue
            if exports:
                self.scope.exported.add(name)

    def _swallowed(self, nodes: Sequence[Node]) -> None:
        """``export A=1 \\`` with a command in the next line, which a shell would take for further variables."""
        found = [word for node in nodes for word in self._word(node)]
        flags = tuple(word.value for word in found if word.value.startswith("--"))
        said = Key("importing.cut_off", line=line_of(nodes[0]), flags=", ".join(flags))
        self.script.said.append(Said(said, flags))
        self._add(found, {}, line_of(nodes[0]), None)

    def _unset(self, node: Node, _: int) -> None:
        for child in node.children[1:]:
            self.scope.variables.pop(self.expander.raw(child), None)
            self.scope.exported.discard(self.expander.raw(child))

    def _subshell(self, node: Node, depth: int) -> None:
        before = self.scope
        self.expander.scope = before.copy()
        self.sequence(node.children, depth)
        self.expander.scope = before

    def _function(self, node: Node, _: int) -> None:
        name = node.children[1 if node.children[0].type == "function" else 0]
        self.scope.functions[self.expander.raw(name)] = node.children[-1]


def _known(text: Text) -> str:
    """``text`` without what is not known of it: the flags in a ``$(…)`` are those of the command in it."""
    found = text.value
    for part in text.unknown:
        found = found.replace(part, " ", 1)
    return found
