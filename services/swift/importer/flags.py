"""Words -> flags with their values, as ms-swift's parser takes them apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from services.swift.importer.text import Text, Word

FLAG = re.compile(r"--([A-Za-z_][\w-]*)(?:=(.*))?", re.DOTALL)
MORE_FLAGS = re.compile(r"ARGS|ARGV|OPTS|OPTIONS|FLAGS|EXTRA|PARAMS|[@*]", re.IGNORECASE)


@dataclass(frozen=True)
class Flag:
    """One flag with its values. ``name`` has underscores, as ms-swift's dataclasses have."""

    name: str
    values: tuple[Text, ...]
    line: int
    written: str

    @property
    def shown(self) -> str:
        return " ".join([self.written, *(value.value for value in self.values)])[:300]

    def words(self) -> list[Word]:
        """The flag as words of a command line."""
        if len(self.values) == 1:
            return [Word(Text(f"--{self.name}=") + self.values[0], self.line)]
        return [Word(Text(f"--{self.name}"), self.line), *(Word(value, self.line) for value in self.values)]


@dataclass(frozen=True)
class Flags:
    """What the words of a command are."""

    flags: tuple[Flag, ...]
    strays: tuple[Word, ...] = ()
    """Words that belong to no flag."""
    unknown: tuple[Word, ...] = ()
    """Variables the script never sets, which may hold further flags (or a configuration file)."""


def read_flags(words: Sequence[Word], takes_many: Callable[[str], bool]) -> Flags:
    """Take ``words`` apart. ``takes_many`` says of a name whether several words may follow it."""
    found: list[Flag] = []
    strays: list[Word] = []
    unknown: list[Word] = []
    for word in words:
        match = FLAG.fullmatch(word.value)
        last = found[-1] if found else None
        if match and not (word.bare and not word.text.known):
            name, value = match.groups()
            values = () if value is None else (Text(value, word.text.unknown),)
            found.append(Flag(name.replace("-", "_"), values, word.line, f"--{name}"))
        elif word.bare and not word.text.known and _holds_flags(word, last, takes_many):
            unknown.append(word)
        elif last is None or (last.values and not takes_many(last.name)):
            (unknown if word.text.unknown == (word.value,) else strays).append(word)
        else:
            found[-1] = Flag(last.name, (*last.values, word.text), last.line, last.written)
    return Flags(tuple(found), tuple(strays), tuple(unknown))


def _holds_flags(word: Word, last: Flag | None, takes_many: Callable[[str], bool]) -> bool:
    """Whether a variable that is not known stands where flags may follow: not where ``last`` still lacks its value."""
    return last is None or (bool(last.values) and (not takes_many(last.name) or bool(MORE_FLAGS.search(word.value))))
