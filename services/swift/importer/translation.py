"""The flags of one command on their way to today's ms-swift: settings, and what is to be said of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from services.errors import Key
from services.swift import catalogue
from services.swift.argument import Argument
from services.swift.importer import old_flags
from services.swift.importer.flags import Flag
from services.swift.importer.text import Said, Text

LISTED = "list["
PLUGINS = ("external_plugins", "custom_register_path")


@dataclass(frozen=True)
class Translated:
    """What an older ms-swift took, and what takes its place."""

    old: str
    new: str
    """As it is written today; "" where today's default does it."""
    version: str
    why: Key


@dataclass(frozen=True)
class Rejected:
    """What the installed ms-swift does not take."""

    flag: str
    value: str
    why: Key
    instead: str = ""
    """The nearest that it takes."""


@dataclass
class Translation:
    """The flags of one command, as far as they have been read."""

    command: str
    settings: dict[str, list[Text]] = field(default_factory=dict)
    given_by: dict[str, str] = field(default_factory=dict)
    """Setting -> the flag that gave it, as it was written."""
    translated: list[Translated] = field(default_factory=list)
    refused: list[Rejected] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)

    @property
    def known(self) -> Mapping[str, Argument]:
        try:
            return catalogue.arguments(self.command)
        except KeyError:
            return {}

    def checked(self, name: str, value: object) -> dict[str, object]:
        """``value`` of its type, as the catalogue checks it; plugins beside it may bring values of their own.

        Empty where it only means the default. Raises Refused.
        """
        plugins = {one: ["plugin"] for one in PLUGINS if one in self.settings and one != name}
        found = catalogue.check(self.command, {**plugins, name: value})
        return {one: found[one] for one in found if one not in plugins}

    def set(self, flag: Flag, name: str, values: tuple[Text, ...]) -> None:
        """``name`` is ``values``. The last of two counts, as for ms-swift."""
        if name in self.settings:
            left = " ".join([self.given_by.get(name, f"--{name}"), *(value.value for value in self.settings[name])])
            key = Key("importing.twice", flag=flag.written, before=left[:200])
            self.said.append(Said(key, (self.given_by.get(name, ""),)))
        self.given_by[name] = flag.written
        self.settings[name] = list(values)

    def move(self, flag: Flag, version: str, why: str, *new: tuple[str, tuple[Text, ...]]) -> None:
        """``flag`` is said today as ``new``, one or several settings; none where it is the default."""
        written = " ".join(f"--{name} {' '.join(value.value for value in values)}".strip() for name, values in new)
        self.translated.append(Translated(flag.shown, written[:300], version, Key(why, version=version)))
        for name, values in new:
            self.set(flag, name, values)

    def replaced(self, old: str, new: str, version: str, why: Key) -> None:
        """``old``, which is written in today's name, is ``new``; where it was translated before, in one go."""
        for number, one in enumerate(self.translated):
            if one.new == old:
                self.translated[number] = Translated(one.old, new, one.version, why)
                return
        self.translated.append(Translated(old, new, version, why))

    def reject(self, flag: Flag, why: Key, instead: str = "") -> None:
        value = " ".join(one.value for one in flag.values)
        self.refused.append(Rejected(flag.written, value[:300], why, instead))


def takes_many(command: str) -> Callable[[str], bool]:
    """Whether several words may follow a flag: today's lists, and old or unknown names."""
    try:
        known = catalogue.arguments(command)
    except KeyError:
        known = {}
    renames = old_flags.RENAMED_IN_3 | old_flags.RENAMED_IN_4

    def many(name: str) -> bool:
        argument = known.get(name) or known.get(renames.get(name, ""))
        return argument is None or argument.type.startswith(LISTED)

    return many
