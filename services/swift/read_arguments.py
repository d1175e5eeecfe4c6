"""Reads every argument of the installed ms-swift and writes arguments.json's text to stdout.

Run as a child, because it imports the trainer:
``python -P -m services.swift.read_arguments > services/swift/arguments.json``
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import json
import sys
import typing
from argparse import Action
from collections.abc import Iterator
from typing import Any

COMMANDS = ("sft", "pt", "rlhf", "export", "deploy", "infer")

READS_JSON = frozenset({"fsdp", "rope_scaling", "teacher_deepspeed", "teacher_model_server"})
"""Declared as plain text, but ms-swift reads a JSON object out of it."""

Field = dict[str, Any]


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        fields, version = _read()
    sys.stdout.write(_text(fields, version))


def parser_of(command: str) -> Any:
    """The very parser ms-swift makes for ``command``, and the dataclass it fills: (parser, class)."""
    from swift import arguments
    from swift.utils import utils
    from transformers import HfArgumentParser

    classes = {
        "sft": arguments.SftArguments,
        "pt": arguments.PretrainArguments,
        "rlhf": arguments.RLHFArguments,
        "export": arguments.ExportArguments,
        "deploy": arguments.DeployArguments,
        "infer": arguments.InferArguments,
    }
    with utils._patch_get_type_hints():
        return HfArgumentParser([classes[command]]), classes[command]


def _read() -> tuple[dict[str, list[Field]], str]:
    """Argument name -> its variants, each with the commands that have it (``of``)."""
    import swift

    fields: dict[str, list[Field]] = {}
    for command in COMMANDS:
        parser, swift_class = parser_of(command)
        hints = _hints(swift_class)
        for action in parser._actions:
            if action.dest in hints and action.nargs != 0:  # nargs 0: --help and the --no_… twins
                field = _field(action, hints[action.dest], swift_class)
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
    if action.dest == "tuner_type":
        from swift.arguments.base_args.base_args import get_supported_tuners

        choices = sorted(get_supported_tuners())
    field: Field = {"type": _type_name(action, hint)}
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
