"""Reads ms-swift's Python form (``sft_main(TrainArguments(…))``) and Python that starts a command, by its syntax tree.
Nothing of it is run.
"""

from __future__ import annotations

import ast
import json
import operator
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from services.errors import Key, Refused
from services.swift.importer import old_flags
from services.swift.importer.text import Call, Said, Text, Word

LARGEST_SOURCE = 256 * 1024
MAINS = {
    "sft_main": "sft", "pt_main": "pt", "pretrain_main": "pt", "rlhf_main": "rlhf", "dpo_main": "dpo",
    "infer_main": "infer", "deploy_main": "deploy", "run_deploy": "deploy", "export_main": "export",
    "merge_lora": "merge-lora", "merge_lora_main": "merge-lora", "eval_main": "eval", "app_main": "app",
    "app_ui_main": "app", "sampling_main": "sample", "rollout_main": "rollout", "webui_main": "web-ui",
    "orpo_main": "orpo", "simpo_main": "simpo",
    "megatron_sft_main": "megatron sft", "megatron_pt_main": "megatron pt", "megatron_pretrain_main": "megatron pt",
    "megatron_rlhf_main": "megatron rlhf", "megatron_export_main": "megatron export",
}  # fmt: skip
CLASSES = {
    "SftArguments": "sft", "TrainArguments": "sft", "PtArguments": "pt", "PretrainArguments": "pt",
    "RLHFArguments": "rlhf", "DPOArguments": "dpo", "InferArguments": "infer", "DeployArguments": "deploy",
    "ExportArguments": "export", "EvalArguments": "eval", "AppArguments": "app", "AppUIArguments": "app",
    "SamplingArguments": "sample", "RolloutArguments": "rollout", "MegatronSftArguments": "megatron sft",
    "MegatronTrainArguments": "megatron sft", "MegatronPretrainArguments": "megatron pt",
    "MegatronRLHFArguments": "megatron rlhf", "MegatronExportArguments": "megatron export",
}  # fmt: skip
NUMBERS: dict[type[ast.operator], Callable[[Any, Any], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
STARTERS = ("run", "call", "check_call", "check_output", "Popen", "system", "popen")
"""Functions of subprocess and os that start a command."""


@dataclass
class PythonSource:
    """What Python source would start."""

    calls: list[Call] = field(default_factory=list)
    scripts: list[tuple[str, int]] = field(default_factory=list)
    """Shell commands it would start, with their lines."""
    said: list[Said] = field(default_factory=list)


def read(text: str) -> PythonSource:
    """The ms-swift calls in ``text``. Raises Refused("import_too_large", "import_line")."""
    if len(text) > LARGEST_SOURCE:
        raise Refused("import_too_large", limit=f"{LARGEST_SOURCE >> 10} KiB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return _Reader().read(tree)
    except SyntaxError as error:
        raise Refused("import_line", line=error.lineno or 1, why=error.msg) from None
    except (ValueError, RecursionError, MemoryError):
        raise Refused("import_line", line=1, why=Key("importing.too_deep")) from None


class _Reader:
    def __init__(self) -> None:
        self.names: dict[str, ast.expr] = {}
        self.env: dict[str, Text] = {}
        self.found = PythonSource()
        self.used: set[int] = set()

    def read(self, tree: ast.Module) -> PythonSource:
        for node in _in_order(tree):
            if isinstance(node, ast.Assign):
                self._assign(node)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self.names[node.target.id] = node.value
            elif isinstance(node, ast.Call):
                self._call(node)
        self._unused_classes(tree)
        return self.found

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = node.value
            elif isinstance(target, ast.Subscript) and self._is_environment(target.value):
                name = self.text(target.slice)
                if name.known:
                    self.env[name.value] = self.text(node.value)

    def _is_environment(self, node: ast.expr) -> bool:
        """``os.environ``, or a copy of it that has a name."""
        return "environ" in ast.unparse(self._resolved(node))

    def _call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if name in MAINS:
            self._main(node, MAINS[name])
        elif name in STARTERS and node.args and _owner(node.func) in ("subprocess", "os", "sp"):
            self._started(node)
        elif name in ("setdefault", "update", "putenv") and "environ" in ast.unparse(node.func):
            pairs = [(node.args[0], node.args[1])] if len(node.args) > 1 else []
            for key, value in pairs:
                self.env.setdefault(self.text(key).value, self.text(value))

    def _started(self, node: ast.Call) -> None:
        value = self._resolved(node.args[0])
        if isinstance(value, ast.List | ast.Tuple):
            words = tuple(Word(self.text(one), node.lineno) for one in value.elts)
            self.found.calls.append(Call(words, node.lineno, dict(self.env)))
        else:
            text = self.text(value)
            self.found.scripts.append((text.value, node.lineno))

    def _main(self, node: ast.Call, command: str) -> None:
        argument = self._resolved(node.args[0]) if node.args else None
        if argument is None:
            argument = next((self._resolved(one.value) for one in node.keywords if one.arg in ("args", "argv")), None)
        if isinstance(argument, ast.List | ast.Tuple):
            words = [Word(self.text(one), getattr(one, "lineno", node.lineno)) for one in argument.elts]
        elif isinstance(argument, ast.Call) and _name(argument.func) in CLASSES:
            self.used.add(id(argument))
            words = self._keywords(argument)
        elif argument is None and node.keywords:
            words = self._keywords(node)
        else:
            words = []
            if argument is not None:
                what = ast.unparse(argument)[:100]
                self.found.said.append(Said(Key("importing.python_open", text=what, line=node.lineno)))
        self._add(command, words, node.lineno)

    def _unused_classes(self, tree: ast.Module) -> None:
        """Arguments that are made, but whose use is not seen (a pipeline of the person's own)."""
        if self.found.calls or self.found.scripts:
            return
        for node in _in_order(tree):
            if isinstance(node, ast.Call) and _name(node.func) in CLASSES:
                self._add(CLASSES[_name(node.func)], self._keywords(node), node.lineno)

    def _add(self, command: str, words: list[Word], line: int) -> None:
        program = command.split() if command.startswith("megatron") else ["swift", command]
        head = [Word(Text(word), line) for word in program]
        self.found.calls.append(Call((*head, *words), line, dict(self.env)))

    def _keywords(self, call: ast.Call) -> list[Word]:
        words: list[Word] = []
        for keyword in call.keywords:
            if keyword.arg is not None:
                words += self._flag(keyword.arg, keyword.value)
                continue
            mapping = self._resolved(keyword.value)
            pairs = self._pairs(mapping)
            if pairs is None:
                what = ast.unparse(keyword.value)[:100]
                self.found.said.append(Said(Key("importing.python_open", text="**" + what, line=call.lineno)))
            for name, value in pairs or []:
                words += self._flag(name, value)
        if call.args:
            what = ", ".join(ast.unparse(one)[:40] for one in call.args)
            self.found.said.append(Said(Key("importing.python_open", text=what, line=call.lineno)))
        return words

    def _pairs(self, mapping: ast.expr) -> list[tuple[str, ast.expr]] | None:
        """The names and values of ``{"a": 1}`` and ``dict(a=1)``."""
        if isinstance(mapping, ast.Dict) and all(isinstance(key, ast.Constant) for key in mapping.keys):
            return [(str(key.value), value) for key, value in zip(mapping.keys, mapping.values, strict=True)]  # type: ignore[union-attr]
        if isinstance(mapping, ast.Call) and _name(mapping.func) == "dict" and not mapping.args:
            return [(one.arg, one.value) for one in mapping.keywords if one.arg]
        return None

    def _flag(self, name: str, node: ast.expr) -> list[Word]:
        value, line = self._resolved(node), getattr(node, "lineno", 1)
        if isinstance(value, ast.Constant) and value.value is None:
            self.found.said.append(Said(Key("importing.python_none", flag=name), (f"--{name}",)))
            return []
        if isinstance(value, ast.List | ast.Tuple | ast.Set):
            texts = [self.text(one) for one in value.elts]
        else:
            texts = [self.text(value)]
        if not texts:
            self.found.said.append(Said(Key("importing.python_none", flag=name), (f"--{name}",)))
            return []
        if len(texts) == 1:
            return [Word(Text(f"--{name}=") + texts[0], line)]
        return [Word(Text(f"--{name}"), line), *(Word(text, line) for text in texts)]

    def _resolved(self, node: ast.expr) -> ast.expr:
        for _ in range(10):
            if not isinstance(node, ast.Name) or node.id not in self.names:
                break
            node = self.names[node.id]
        return node

    def text(self, node: ast.expr, depth: int = 0) -> Text:
        """The text of an expression; what is no literal is unknown."""
        node = self._resolved(node)
        unknown = Text(ast.unparse(node)[:200], (ast.unparse(node)[:200],))
        if depth > 30:
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
            both_text = isinstance(self._resolved(node.left), ast.Constant | ast.JoinedStr | ast.BinOp)
            return left + right if both_text and not _numeric(left) else unknown
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.path.join" and node.args:
            found = self.text(node.args[0], depth + 1)
            for one in node.args[1:]:
                found = found + Text("/") + self.text(one, depth + 1)
            return found
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            listed = old_flags.listed_as(node.value.id, node.attr)
            return Text(listed) if listed else unknown
        if isinstance(node, ast.BinOp | ast.UnaryOp) and (number := self._number(node)) is not None:
            return Text(number)
        return self._value(node, unknown)

    def _number(self, node: ast.expr, depth: int = 0) -> str | None:
        """What sums, products and quotients of numbers come to."""
        found = self._counted(node, depth)
        return None if found is None else str(found)

    def _counted(self, node: ast.expr, depth: int) -> int | float | None:
        node = self._resolved(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and depth < 30:
            inner = self._counted(node.operand, depth + 1)
            return None if inner is None else -inner
        if not isinstance(node, ast.BinOp) or type(node.op) not in NUMBERS or depth > 30:
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


def _numeric(text: Text) -> bool:
    return text.value.replace(".", "").replace("-", "").isdigit()


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _owner(func: ast.expr) -> str:
    return ast.unparse(func.value) if isinstance(func, ast.Attribute) else ""


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Every node as it stands in the source, assignments after what they hold."""
    waiting: list[tuple[ast.AST, bool]] = [(node, False)]
    while waiting:
        one, seen = waiting.pop()
        if seen:
            yield one
            continue
        waiting.append((one, True))
        waiting += [(child, False) for child in reversed(list(ast.iter_child_nodes(one)))]
