"""Reads every argument of the installed ms-swift and writes arguments.json's text to stdout.

Run as a child, because it imports the trainer:
``python -P -m services.swift.read_arguments > services/swift/arguments.json``. With ``--help-to-cache`` it
writes what ms-swift itself says about each argument into TuneDesk's cache instead, where that is not there yet.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import importlib.metadata
import json
import sys
import types
import typing
from argparse import Action
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.settings import read_settings
from services.swift.argument_help import argument_help, help_file
from services.swift.known_values import known_values

COMMANDS = (
    "sft", "pt", "rlhf", "export", "deploy", "infer", "rollout", "eval", "sample", "app",
    "megatron sft", "megatron pt", "megatron rlhf", "megatron export",
)  # fmt: skip

READS_JSON = frozenset({"fsdp", "rope_scaling", "teacher_deepspeed", "teacher_model_server"})
"""Declared as plain text, but ms-swift reads a JSON object out of it."""

Field = dict[str, Any]


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        if sys.argv[1:] == ["--help-to-cache"]:
            write_help(help_file(read_settings().cache))
            return
        fields, version = _read()
    sys.stdout.write(_text(fields, version))


def write_help(file: Path) -> None:
    """What ms-swift says about its arguments, as JSON: command -> argument -> text."""
    version = importlib.metadata.version("ms-swift")
    with contextlib.suppress(OSError, ValueError, KeyError):
        if json.loads(file.read_bytes())["ms_swift"] == version:
            return
    texts = {command: argument_help(*parser_of(command)) for command in COMMANDS}
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".partial")
    partial.write_text(json.dumps({"ms_swift": version, "help": texts}, ensure_ascii=False), "utf-8")
    partial.replace(file)


def parser_of(command: str) -> Any:
    """The very parser ms-swift makes for ``command``, and the dataclass it fills: (parser, class)."""
    from swift.utils import utils
    from transformers import HfArgumentParser

    swift_class = class_of(command)
    with utils._patch_get_type_hints():
        return HfArgumentParser([swift_class]), swift_class


def class_of(command: str) -> type:
    """The dataclass that holds the arguments of ``command``."""
    if command.startswith("megatron "):
        _stand_in_for_megatron()
        from swift.megatron import arguments
    else:
        from swift import arguments
    names = {
        "sft": "Sft", "pt": "Pretrain", "rlhf": "RLHF", "export": "Export", "deploy": "Deploy", "infer": "Infer",
        "rollout": "Rollout", "eval": "Eval", "sample": "Sampling", "app": "App", "megatron sft": "MegatronSft",
        "megatron pt": "MegatronPretrain", "megatron rlhf": "MegatronRLHF", "megatron export": "MegatronExport",
    }  # fmt: skip
    found: type = getattr(arguments, f"{names[command]}Arguments")
    return found


class _Nothing(types.ModuleType):
    """A module in which every name is an empty class."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        self.__version__ = "0.16.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def _stand_in_for_megatron() -> None:
    """Make ms-swift's Megatron arguments importable without Megatron, which needs a GPU's compiler to install.

    Their dataclasses use nothing of it before a command runs. The package's own __init__ starts it, and is skipped.
    """
    if "swift.megatron" in sys.modules:
        return
    import swift

    for name in (
        "megatron", "megatron.core", "megatron.core.transformer", "megatron.core.transformer.enums",
        "mcore_bridge", "mcore_bridge.model", "swift.megatron.utils",
    ):  # fmt: skip
        sys.modules[name] = _Nothing(name)
    sys.modules["megatron"].core = sys.modules["megatron.core"]  # type: ignore[attr-defined]
    package = types.ModuleType("swift.megatron")
    package.__path__ = [str(Path(swift.__file__).parent / "megatron")]
    sys.modules["swift.megatron"] = package


def _read() -> tuple[dict[str, list[Field]], str]:
    """Argument name -> its variants, each with the commands that have it (``of``)."""
    import swift

    fields: dict[str, list[Field]] = {}
    # All parsers before anything else is imported: Python remembers the first order in which a Union was written,
    # and transformers' parser cannot read Megatron's cp_comm_type (a text or a list) in another order.
    parsers = {command: parser_of(command) for command in COMMANDS}
    for command, (parser, swift_class) in parsers.items():
        hints = _hints(swift_class)
        known = known_values(command)
        for action in parser._actions:
            if action.dest in hints and action.nargs != 0:  # nargs 0: --help and the --no_… twins
                field = {**_field(action, hints[action.dest], swift_class)}
                if "choices" not in field:
                    field |= known.get(action.dest, {})
                variants = fields.setdefault(action.dest, [])
                same = next((one for one in variants if {**one, "of": None} == {**field, "of": None}), None)
                if same is None:
                    variants.append({"of": [command], **field})
                else:
                    same["of"].append(command)
    return fields, swift.__version__


def _field(action: Action, hint: Any, swift_class: type) -> Field:
    """``type``, and ``choices`` and ``default`` where there are any."""
    choices = action.choices
    field: Field = {"type": _type_name(action, hint)}
    if action.dest == "tuner_type" and choices is None:
        from swift.arguments.base_args.base_args import get_supported_tuners

        choices = sorted(get_supported_tuners())
        field["plugin"] = True
    enumeration = _enumeration(action, swift_class)
    if choices is None and enumeration is not None:
        choices = [member.value for member in enumeration]
    if choices is not None:
        field["choices"] = [one for one in choices if one is not None]
    default = action.default.value if isinstance(action.default, enum.Enum) else action.default
    if isinstance(default, str) and field["type"] == "bool" and callable(action.type):
        default = action.type(default)  # as argparse does with a default that is text
    if default not in (None, []):
        field["default"] = default
    return field


def _type_name(action: Action, hint: Any) -> str:
    kinds = {typing.get_origin(part) or part for part in (typing.get_args(hint) or (hint,))}
    if action.dest in READS_JSON or {dict, str} <= kinds:
        return "dict"
    parse = getattr(action.type, "__name__", "")
    if action.choices is not None:
        return "str"
    if isinstance(action.type, type) and issubclass(action.type, enum.Enum):
        parse = "str"
    names = {"string_to_bool": "bool", "int": "int", "float": "float", "str": "str", "Path": "str"}
    name = names.get(parse, "unsettable")  # a class that cannot be made from one word
    return f"list[{name}]" if action.nargs == "+" else name


def _enumeration(action: Action, swift_class: type) -> type[enum.Enum] | None:
    """The enumeration that ends up checking this value.

    ms-swift declares some of transformers' fields (eval_strategy, lr_scheduler_type) as plain text
    and passes them on, so the class they come from is asked as well.
    """
    for owner in swift_class.__mro__:
        for kind in _parts(_hints(owner).get(action.dest)):
            if isinstance(kind, type) and issubclass(kind, enum.Enum):
                return kind
    return None


@functools.cache
def _hints(owner: type) -> dict[str, Any]:
    return typing.get_type_hints(owner) if dataclasses.is_dataclass(owner) else {}


def _parts(hint: Any) -> Iterator[Any]:
    """The hint and, inside out, whatever it is made of."""
    yield hint
    for part in typing.get_args(hint):
        yield from _parts(part)


def _text(fields: dict[str, list[Field]], version: str) -> str:
    """One argument a line, sorted, so that the next ms-swift is a readable diff."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    lines = ",\n".join(f"{compact(name)}:{compact(fields[name])}" for name in sorted(fields))
    return f'{{"ms_swift":{compact(version)},"commands":{compact(COMMANDS)},"arguments":{{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    main()
