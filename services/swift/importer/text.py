"""A text as a shell would make it, which may hold parts that nobody can know without running something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from services.errors import Key, Refused

LONGEST_TEXT = 1 << 20
"""Characters a variable or a word may grow to; a few lines that double a variable would ask for gigabytes."""


@dataclass(frozen=True)
class Text:
    """What is known of a text. ``unknown`` names the parts that are not, each as it was written; they stand in
    ``value`` as they were written, too."""

    value: str = ""
    unknown: tuple[str, ...] = ()

    def __add__(self, other: Text) -> Text:
        if len(self.value) + len(other.value) > LONGEST_TEXT:
            raise Refused("import_too_large", limit=f"{LONGEST_TEXT >> 20} MiB")
        return Text(self.value + other.value, self.unknown + other.unknown)

    @property
    def known(self) -> bool:
        return not self.unknown


@dataclass(frozen=True)
class Word:
    """One word of a command and the line it stands in (the first is 1)."""

    text: Text
    line: int
    bare: bool = False
    """An unquoted variable that the script never sets: a shell would make any number of words of it."""

    @property
    def value(self) -> str:
        return self.text.value


@dataclass(frozen=True)
class Call:
    """A command that a script would run."""

    words: tuple[Word, ...]
    line: int
    env: dict[str, Text]
    """What it is given beside what the script was started with: what is exported, and what stands before it."""
    shell_only: frozenset[str] = frozenset()
    """Variables the script sets without exporting them."""
    conditions: tuple[str, ...] = ()
    """The ``if``, ``for``, function … it stands in, each as it is written."""
    folder: str = ""
    """Where ``cd`` has gone, relative to where the script is started."""
    stdin: Text | None = None
    """A here-document it reads."""


@dataclass(frozen=True)
class Said:
    """Something a person should know, with the flags it is about."""

    text: Key
    flags: tuple[str, ...] = ()


@dataclass
class Script:
    """What was found in a script."""

    calls: list[Call] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    written: dict[str, Text] = field(default_factory=dict)
    """Files that the script itself writes out of here-documents."""
    torn: list[tuple[int, int]] = field(default_factory=list)
    """Lines (first, last) that are no shell."""
    headers: list[str] = field(default_factory=list)
    """The options in ``#SBATCH`` lines."""


def words(values: Iterable[str], line: int) -> list[Word]:
    """Plain words."""
    return [Word(Text(value), line) for value in values]
