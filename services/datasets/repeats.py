"""All rows of a file compared with each other, and with validation data: what an audit of all rows ends with.

A child process: ``python -P -m services.datasets.repeats JOB RESULT`` reads a job (see ``Job``), writes what it found
as JSON, and says it in its log.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from services.datasets.check import look
from services.datasets.duplicates import SIMILAR, near, signature
from services.datasets.formats import Task
from services.datasets.report import ROWS_NAMED, Finding
from services.datasets.rows import Fault
from services.datasets.tally import fingerprint
from services.datasets.turns import Unusable, turns_of
from services.text import LANGUAGES, say

MOST_ROWS = 200_000
"""Rows that are compared, of all files together: some 30 s and 100 MB (of 20,000 measured: 3.1 s and
31 MB). Of more they are spread evenly."""
_NAMED = 8


@dataclass(frozen=True)
class Job:
    """What is compared."""

    path: str
    task: Task
    columns: dict[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    """Validation data: its rows are looked for among those of ``path``."""
    rows: int = 0
    """Of ``path``, as far as that is known."""


@dataclass(frozen=True)
class Repeats:
    """What was found. Pairs are (row, the earlier row it resembles), row numbers from 1; the first ones only."""

    compared: int
    similar: int = 0
    pairs: tuple[tuple[int, int], ...] = ()
    leaked: int = 0
    leaks: tuple[tuple[str, int, int], ...] = ()
    """(name of the validation file, its row, the training row)"""

    def findings(self, name: str) -> list[Finding]:
        """The same as a check says it; ``name``: that of the training file."""
        found = []
        if self.similar:
            words = ", ".join(f"{row} ≈ {first}" for row, first in self.pairs[:_NAMED])
            words += " …" if self.similar > _NAMED else ""
            rows = tuple(row for row, _ in self.pairs)
            found.append(Finding("rows_similar", self.similar, rows, values={"words": words, "total": self.compared}))
        if self.leaked:
            words = ", ".join(f"{held} {row} ≈ {name} {first}" for held, row, first in self.leaks[:_NAMED])
            words += " …" if self.leaked > _NAMED else ""
            found.append(Finding("rows_leak_near", self.leaked, values={"words": words}))
        return found


def compare(job: Job) -> Repeats:
    """Rows nearly the same (by SIMILAR of their pieces), without those that are the same word for word, and rows of
    the validation data that are, or are nearly, training rows. Raises Refused("dataset_unreadable")."""
    import numpy

    step = max(1, -(-job.rows // MOST_ROWS))
    signatures: list[Any] = []
    prints, numbers, names = array("Q"), array("Q"), []
    for path in (job.path, *job.held):
        columns = job.columns if path == job.path else {}
        for number, text, value in islice(_texts(Path(path), job.task, columns, step), MOST_ROWS - len(signatures)):
            signatures.append(signature(text))
            prints.append(value)
            numbers.append(number)
            names.append("" if path == job.path else Path(path).name)
    if not signatures:
        return Repeats(0)
    found = near(numpy.stack(signatures))
    own = [(row, first) for row, first in found if not names[row] and prints[row] != prints[first]]
    leaks = [(names[row], numbers[row], numbers[first]) for row, first in found if names[row] and not names[first]]
    return Repeats(
        compared=len(signatures),
        similar=len(own),
        pairs=tuple((numbers[row], numbers[first]) for row, first in own[:ROWS_NAMED]),
        leaked=len(leaks),
        leaks=tuple(leaks[:ROWS_NAMED]),
    )


def _texts(path: Path, task: Task, columns: dict[str, str], step: int) -> Iterator[tuple[int, str, int]]:
    """(row number, its text, its fingerprint) of every ``step``-th row that ms-swift makes a conversation of."""
    seen = look(path, task=task, columns=columns or None)
    for number, item in seen.file.rows():
        if (number - 1) % step or isinstance(item, Fault) or seen.form.kind == "none":
            continue
        try:
            turns = turns_of(item, seen.form)
        except Unusable:
            continue
        if value := fingerprint(turns):
            yield number, "\n".join(str(turn.content) for turn in turns), value


def read_repeats(path: Path) -> Repeats:
    """What a child found. Raises OSError, ValueError, KeyError or TypeError where that cannot be read."""
    value = orjson.loads(path.read_bytes())
    pairs = tuple((int(row), int(first)) for row, first in value["pairs"])
    leaks = tuple((str(name), int(row), int(first)) for name, row, first in value["leaks"])
    return Repeats(int(value["compared"]), int(value["similar"]), pairs, int(value["leaked"]), leaks)


def main(words: Sequence[str]) -> None:
    """The child: see the head of this module."""
    job = Job(**orjson.loads(Path(words[0]).read_bytes()))
    result = Path(words[1])
    found = compare(job)
    partial = result.with_name(result.name + ".partial")
    partial.write_bytes(orjson.dumps(asdict(found)))
    partial.rename(result)
    for lang in LANGUAGES:
        said = [say(f"dataset.finding.{one.code}", lang, **one.gaps()) for one in found.findings(Path(job.path).name)]
        said = said or [say("dataset.no_repeats", lang, count=f"{found.compared:,}", share=f"{SIMILAR:.0%}")]
        sys.stdout.write("\n".join([*said, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
