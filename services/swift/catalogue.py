"""ms-swift's arguments: what every command takes, and how that becomes its command line.

The catalogue is arguments.json, generated from the installed ms-swift by read_arguments.py.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from services.errors import Refused
from services.swift.argument import Argument, short, typed
from services.swift.argument_help import help_of
from services.swift.marks import unavailable
from services.swift.renamed import RENAMED, RENAMED_VALUES

__all__ = [
    "Argument", "arguments", "check", "commands", "help_of", "parse_extra", "to_argv", "unavailable", "version",
]  # fmt: skip

MANY = 40
"""More known values than this are not all told to a person; the nearest are."""

LONGEST_WORD = 128 * 1024 - 1
"""Bytes; Linux starts no program with a longer word (MAX_ARG_STRLEN)."""


@functools.cache
def _catalogue() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("arguments.json").read_bytes())
    return found


def version() -> str:
    """The ms-swift version the catalogue was read from."""
    return str(_catalogue()["ms_swift"])


def commands() -> tuple[str, ...]:
    """The commands of ms-swift that the catalogue knows: sft, rlhf, export, megatron sft …"""
    return tuple(_catalogue()["commands"])


@functools.cache
def arguments(command: str) -> Mapping[str, Argument]:
    """All arguments of ``command``, one of ``commands()``. Raises KeyError for another."""
    if command not in _catalogue()["commands"]:
        raise KeyError(command)
    found = {}
    for name, variants in _catalogue()["arguments"].items():
        for field in variants:
            if command in field["of"]:
                choices = tuple(field["choices"]) if "choices" in field else None
                known = tuple(field.get("known", ()))
                found[name] = Argument(
                    name, field["type"], choices, field.get("default"), known, field.get("plugin", False)
                )
    return MappingProxyType(found)


def check(command: str, args: Mapping[str, object]) -> dict[str, object]:
    """``args`` with every name known to ``command`` and every value of its type.

    Names may be written with dashes and as ``no_<switch>``, values as text. What is None, and what
    ms-swift can only take as its own default (an empty list, "None" for a choice), is left out.
    Raises Refused: argument_unknown, argument_other_command, argument_renamed, argument_value,
    argument_unpassable, argument_ignore_errors.
    """
    known = arguments(command)
    has_plugins = any(args.get(one) for one in ("external_plugins", "custom_register_path"))
    cleaned: dict[str, object] = {}
    for raw_name, raw_value in args.items():
        name, value = _switch(raw_name.removeprefix("--").replace("-", "_"), raw_value, known)
        if name not in known:
            raise _unknown(command, name)
        argument = known[name]
        if argument.plugged and has_plugins:
            argument = replace(argument, choices=None, known=())
        if value is not None:
            _refuse_renamed_value(name, value)
            value = typed(argument, value)
            _refuse_unknown_value(argument, value)
        if name == "ignore_args_error":
            if value:
                raise Refused("argument_ignore_errors")
        elif value is not None:
            to_argv({name: value})
            cleaned[name] = value
    return cleaned


def _switch(name: str, value: object, known: Mapping[str, Argument]) -> tuple[str, object]:
    """``no_<switch>``, which ms-swift offers for every switch that is on, as that switch turned off."""
    switch = known.get(name.removeprefix("no_"))
    if name in known or switch is None or switch.default is not True or value is None:
        return name, value
    return switch.name, not typed(switch, value)


def _unknown(command: str, name: str) -> Refused:
    known = arguments(command)
    engines = [f"{engine}_{name}" for engine in ("vllm", "sglang", "lmdeploy")]
    for new in (*RENAMED.get(name, ()), *engines):
        if new in known:
            both = RENAMED.get(name, ()) if new not in engines else (new,)
            return Refused("argument_renamed", name=f"--{name}", new=_flags(both))
    owners = [_typed_command(other) for other in commands() if name in arguments(other)]
    if owners:
        return Refused("argument_other_command", name=name, command=command, others=", ".join(owners))
    close = _flags(_nearest(name, list(known)))
    return Refused("argument_unknown", name=name, command=command, version=version(), close=close)


def _typed_command(command: str) -> str:
    return command if command.startswith("megatron ") else f"swift {command}"


def _flags(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def _nearest(name: str, known: list[str]) -> list[str]:
    import difflib

    alike = difflib.get_close_matches(name, known, 3, 0.6)
    holding = sorted((one for one in known if len(name) > 3 and name in one), key=len)
    return list(dict.fromkeys([*alike, *holding]))[:3] or difflib.get_close_matches(name, known, 3, 0.0)


def _refuse_renamed_value(name: str, value: object) -> None:
    for one in value if isinstance(value, list | tuple) else [value]:
        new = RENAMED_VALUES.get((name, str(one)))
        if new:
            raise Refused("argument_renamed", name=f"--{name} {one}", new=new)


def _refuse_unknown_value(argument: Argument, value: object) -> None:
    """For what only a plugin can add to; ``loss_scale`` is several names joined by a plus."""
    if not (argument.plugged and argument.known) or value is None:
        return
    values = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
    if argument.name == "loss_scale":
        values = [part for one in values for part in one.split("+")]
    for one in values:
        if one not in argument.known:
            allowed = argument.known if len(argument.known) < MANY else _nearest(one, list(argument.known))
            raise Refused("argument_value", name=argument.name, value=short(one), allowed=", ".join(allowed))


def to_argv(args: Mapping[str, object]) -> list[str]:
    """The words that give ``args`` to ms-swift; what is None or an empty list is left out.

    A single value that begins with a dash is written ``--name=value``, or argparse would take it
    for a flag; those come last, because ms-swift opens a first word that ends in .json or .yaml.
    Raises Refused("argument_unpassable") for a value that no command line can carry.
    """
    plain: list[str] = []
    dashed: list[str] = []
    for name, value in args.items():
        values = value if isinstance(value, list | tuple) else [] if value is None else [value]
        words = [_word(name, one) for one in values]
        if any(_unpassable(word, alone=len(words) == 1) for word in words):
            raise Refused("argument_unpassable", name=name, value=short(value))
        if len(words) == 1 and words[0].startswith("-"):
            dashed.append(f"--{name}={words[0]}")
        elif words:
            plain += [f"--{name}", *words]
    return plain + dashed


def _word(name: str, value: object) -> str:
    if isinstance(value, str):
        return value  # the object itself: it may be a Slot
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        # max_memory's keys are card numbers, which JSON cannot say; ms-swift reads a Python literal there
        return repr(dict(value)) if name == "max_memory" else json.dumps(value, ensure_ascii=False)
    return str(value)


def _unpassable(word: str, alone: bool) -> bool:
    """Whether no command line can carry ``word``, as argparse and execve read one."""
    try:
        too_long = len(word.encode("utf-8", "surrogateescape")) >= LONGEST_WORD - 64  # 64: --name=
    except UnicodeEncodeError:
        return True
    flag_like = word.startswith("-") and word != "-" and not re.fullmatch(r"-\d+|-\d*\.\d+", word)
    return too_long or "\0" in word or word == "--" or (flag_like and not alone)


_NAME = r"[A-Za-z_]\w*(?:-\w+)*"
_FLAG = re.compile(rf"--({_NAME})(?:=(.*))?", re.DOTALL)
_ASSIGNED = re.compile(rf"({_NAME})=(.*)", re.DOTALL)
_HEADED = re.compile(rf"({_NAME})\s*([=:\uff1d\uff1a])\s*(.*)", re.DOTALL)  # also full-width = and :


def parse_extra(text: str) -> dict[str, object]:
    """What a person typed as further arguments: name -> text, list of texts, JSON value, or True.

    A line holds ``name: value``, or any number of ``--name value …``, ``--name=value`` and
    ``name=value``. Several words are a list (after ``name:`` only for an argument that takes one),
    quotes hold a word together, also over lines, a flag without a value is True, a line that begins
    with ``#`` is a comment, and a backslash at its end joins the next one. The last of two equal
    names counts, as for ms-swift. Raises Refused("argument_syntax", line=…, text=…).
    """
    found: dict[str, object] = {}
    lines = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(lines):
        start, line = at, lines[at].strip()
        at += 1
        if not line or line.startswith("#"):
            continue
        pairs = _literal(line)
        while pairs is None and (words := _split(line, at == len(lines))) is None and at < len(lines):
            line = line[:-1] + " " + lines[at].strip() if line.endswith("\\") else line + "\n" + lines[at]
            at += 1
        pairs = _pairs(line, words or []) if pairs is None else pairs
        if not pairs:
            raise Refused("argument_syntax", line=start + 1, text=short(lines[start].strip()))
        found |= {name.replace("-", "_"): value for name, value in pairs.items()}
    return found


def _literal(line: str) -> dict[str, object] | None:
    """``name: value`` and ``name=<JSON>``, which quote nothing as a shell would; else None."""
    match = _HEADED.fullmatch(line)
    if match is None or not match[3]:
        return None
    name, sign, rest = match.groups()
    if rest.startswith(("{", "[")):
        try:
            return {name: json.loads(rest)}
        except ValueError:
            pass
    if sign in "=\uff1d" or rest.startswith(("'", '"')) or _takes_list(name):
        return None
    return {name: rest}


def _takes_list(name: str) -> bool:
    variants = _catalogue()["arguments"].get(name.replace("-", "_"), [])
    return any(field["type"].startswith("list[") for field in variants)


def _split(line: str, last: bool) -> list[str] | None:
    """The words of ``line``, or None where it goes on in the next one."""
    if line.endswith("\\"):
        return _split(line[:-1], last) if last else None
    try:
        return shlex.split(line)
    except ValueError:
        return None


def _pairs(line: str, words: list[str]) -> dict[str, object] | None:
    """The arguments in the ``words`` of one line, or None where a value has no name."""
    found: dict[str, list[str]] = {}
    name = ""
    head = _HEADED.match(line)
    if head and words:
        name = head[1]
        words = shlex.split(line[head.start(3) :])
        if head[2] in ":\uff1a":
            return {name: _value(words)} if words else None
        found[name], words = words[:1] or [""], words[1:]
    for word in words:
        match = _FLAG.fullmatch(word) or (_ASSIGNED.fullmatch(word) if head else None)
        if match:
            name = match[1]
            found[name] = [] if match[2] is None else [match[2]]
        elif name:
            found[name].append(word)
        else:
            return None
    return {key: _value(values) for key, values in found.items()}


def _value(values: list[str]) -> object:
    if not values:
        return True
    return values[0] if len(values) == 1 else values
