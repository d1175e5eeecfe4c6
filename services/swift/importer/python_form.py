"""Reads ms-swift's Python form (``sft_main(TrainArguments(…))``) and Python that starts a command, by its syntax tree.
Nothing of it is run.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from services.errors import Key, Refused
from services.swift.importer.python_values import Values, name_of
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


class _Reader(Values):
    def __init__(self) -> None:
        super().__init__()
        self.env: dict[str, Text] = {}
        self.found = PythonSource()
        self.used: set[int] = set()

    def read(self, tree: ast.Module) -> PythonSource:
        for node in _in_order(tree):
            if isinstance(node, ast.Assign):
                self._assign(node)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self.assign(node.target.id, node.value)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.grow(node.target.id, node.value)
            elif isinstance(node, ast.FunctionDef):
                self._function(node)
            elif isinstance(node, ast.Call):
                self._call(node)
        self._unused_classes(tree)
        return self.found

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.assign(target.id, node.value)
            elif isinstance(target, ast.Subscript) and self._is_environment(target.value):
                name = self.text(target.slice)
                if name.known:
                    self.env[name.value] = self.text(node.value)

    def _is_environment(self, node: ast.expr) -> bool:
        """``os.environ``, or a copy of it that has a name."""
        return "environ" in ast.unparse(self.resolved(node))

    def _function(self, node: ast.FunctionDef) -> None:
        """Remember a list that a function builds and returns."""
        returns = [one for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
        elements = self.listed(returns[-1].value) if returns and returns[-1].value is not None else None
        if elements is not None:
            self.functions[node.name] = ast.List(elements)

    def _call(self, node: ast.Call) -> None:
        name = name_of(node.func)
        if name in ("append", "extend") and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
            more = node.args[0] if name == "extend" else ast.List([node.args[0]])
            if isinstance(node.func.value, ast.Name):
                self.grow(node.func.value.id, more)
        if name in MAINS:
            self._main(node, MAINS[name])
        elif name in STARTERS and node.args and _owner(node.func) in ("subprocess", "os", "sp"):
            self._started(node)
        elif name in ("setdefault", "update", "putenv") and "environ" in ast.unparse(node.func):
            pairs = [(node.args[0], node.args[1])] if len(node.args) > 1 else []
            for key, value in pairs:
                self.env.setdefault(self.text(key).value, self.text(value))

    def _started(self, node: ast.Call) -> None:
        elements = self.listed(node.args[0])
        text = self.text(node.args[0]) if elements is None else Text()
        if elements is not None:
            words = tuple(Word(self.text(one), getattr(one, "lineno", node.lineno)) for one in elements)
            self.found.calls.append(Call(words, node.lineno, dict(self.env)))
        elif text.unknown == (text.value,):
            what = Key("importing.python_open", text=text.value[:100], line=node.lineno)
            self.found.said.append(Said(what))
        else:
            self.found.scripts.append((_as_shell(text), node.lineno))

    def _main(self, node: ast.Call, command: str) -> None:
        argument = self.resolved(node.args[0]) if node.args else None
        if argument is None:
            argument = next((self.resolved(one.value) for one in node.keywords if one.arg in ("args", "argv")), None)
        elements = self.listed(argument) if argument is not None else None
        if elements is not None:
            words = [Word(self.text(one), getattr(one, "lineno", node.lineno)) for one in elements]
        elif isinstance(argument, ast.Call) and name_of(argument.func) in CLASSES:
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
            if isinstance(node, ast.Call) and name_of(node.func) in CLASSES:
                self._add(CLASSES[name_of(node.func)], self._keywords(node), node.lineno)

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
            mapping = self.resolved(keyword.value)
            pairs = self.pairs(mapping)
            if pairs is None:
                what = ast.unparse(keyword.value)[:100]
                self.found.said.append(Said(Key("importing.python_open", text="**" + what, line=call.lineno)))
            for name, value in pairs or []:
                words += self._flag(name, value)
        if call.args:
            what = ", ".join(ast.unparse(one)[:40] for one in call.args)
            self.found.said.append(Said(Key("importing.python_open", text=what, line=call.lineno)))
        return words

    def _flag(self, name: str, node: ast.expr) -> list[Word]:
        value, line = self.resolved(node), getattr(node, "lineno", 1)
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


def _as_shell(text: Text) -> str:
    """``text`` for a shell, in which what is not known is a variable that nobody sets."""
    found = text.value
    for part in text.unknown:
        found = found.replace(part, "${" + (re.sub(r"\W+", "_", part).strip("_")[:60] or "unknown") + "}", 1)
    return found


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
