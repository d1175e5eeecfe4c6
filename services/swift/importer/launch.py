"""ms-swift as one command starts it, and the options of the programs before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.errors import Key
from services.swift.importer.text import Call, Said, Text, Word

TRAININGS = ("sft", "pt", "rlhf")


@dataclass
class Launch:
    """ms-swift as one command starts it."""

    call: Call
    words: list[Word]
    """What is left to read; in the end, the words behind the command."""
    env: dict[str, Text]
    command: str = ""
    """sft, infer, "megatron sft" …; empty where no ms-swift was found."""
    written: str = ""
    """The command as it was written, where that is not its name today."""
    module: str = ""
    """A module of ms-swift that never was, which the command named."""
    launcher: str = ""
    processes: str | None = None
    nodes: str | None = None
    hosts: str | None = None
    gpus: str | None = None
    config_file: str | None = None
    """Of accelerate."""
    mixed_precision: str | None = None
    target: dict[str, object] = field(default_factory=dict)
    """Where it runs, as a spec says it, as far as the launcher does."""
    script: str | None = None
    """A shell script inside the command (``bash -c …``, a here-document)."""
    script_file: str = ""
    """A file with a shell script, which the command starts."""
    python: str | None = None
    """Python source inside the command (``python -c …``)."""
    python_file: str | None = None
    said: list[Said] = field(default_factory=list)
    around: tuple[str, ...] = ()

    def say(self, code: Key, *flags: str) -> None:
        self.said.append(Said(code, flags))


def options(found: Launch, flags: Sequence[str], *, short: Sequence[str] = ()) -> dict[str, str]:
    """The options at the front, taken off: name with ``_`` -> value ("" for one of ``flags``, which take none).
    ``short`` are one-dash options that take a value.
    """
    got: dict[str, str] = {}
    while found.words and (text := found.words[0].value).startswith("-") and text not in ("-", "--"):
        name, value = options_once(found, flags, short)
        got[name] = value
    if found.words and found.words[0].value == "--":
        found.words.pop(0)
    return got


def options_once(
    found: Launch, flags: Sequence[str], short: Sequence[str], long_takes_value: bool = True
) -> tuple[str, str]:
    """The first option, taken off: its name (with ``_``; of a short one with its dash) and its value."""
    text = found.words.pop(0).value
    name, equals, value = text.partition("=")
    long = name.startswith("--")
    name = name[2:].replace("-", "_") if long else name
    alone = name in flags or (not long_takes_value if long else name not in short)
    if equals or alone or not found.words:
        return name, value
    return name, found.words.pop(0).value


def taken(found: Launch, launcher: str, got: dict[str, str], *names: str) -> None:
    """Say which options of a launcher the spec has taken over."""
    there = [name for name in names if got.get(name)]
    if there:
        text = ", ".join(f"--{name} {got[name]}" for name in there)
        found.say(Key("importing.launcher_taken", launcher=launcher, options=text), *(f"--{name}" for name in there))


def left(found: Launch, launcher: str, got: dict[str, str]) -> None:
    """Say which options of a launcher have no place of their own in a spec."""
    if got:
        names = tuple(name if name.startswith("-") else f"--{name}" for name in got)
        text = " ".join(f"{flag} {value}".strip() for flag, value in zip(names, got.values(), strict=True))
        found.say(Key("importing.launcher_options", launcher=launcher, options=text), *names)


def number(text: str | None) -> object:
    return int(text) if text and text.isdigit() and len(text) < 7 else text
