"""Adds the rows of a file, or of one part of it, up to counts that can be put together to a Report."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xxhash import xxh3_64_intdigest

from services.datasets import shape
from services.datasets.csv_rows import saved
from services.datasets.files import DataFile
from services.datasets.formats import PAIRED, Format, Task, detect
from services.datasets.labels import label_problem
from services.datasets.media import Media
from services.datasets.preview import preview_of
from services.datasets.quick import differs, plain_parts
from services.datasets.report import FIXES, LOST, OPTIONAL, ROWS_NAMED, Preview
from services.datasets.row_mender import RowMender
from services.datasets.rows import Fault, Row
from services.datasets.thinned import Thinned
from services.datasets.turns import Turn, Unusable, pair_problems, problems, turns_of
from services.paths import printable

PREVIEWED = 20
_PLAIN = {"rejected_response", "label", "margin", "channel"}
"""Columns beside the conversation with which a row can still be looked at the short way."""


@dataclass(frozen=True)
class Look:
    """What the beginning of a file tells about the whole: readable, which columns, which format."""

    file: DataFile
    columns: tuple[str, ...]
    form: Format
    shape: shape.Shape | None
    sampled: int = 0
    """Rows the format was decided from."""
    read: int = 0
    """Of them, rows that ms-swift makes a conversation of."""


@dataclass
class Count:
    """One kind of finding: how often, the first rows and lines, and what to say of it."""

    count: int = 0
    rows: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    values: dict[str, object] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)
    example: str = ""

    def note(self, number: int, word: str = "", example: str = "") -> None:
        self.count += 1
        if len(self.rows) < ROWS_NAMED:
            self.rows.append(number)
        if word:
            self.words[word] += 1
        self.example = self.example or example

    def append(self, other: Count, rows: int, lines: int) -> None:
        """Add what a later part found, which begins ``rows`` rows and ``lines`` lines further on."""
        self.count += other.count
        self.rows += [row + rows for row in other.rows][: ROWS_NAMED - len(self.rows)]
        self.lines += [line + lines if line else 0 for line in other.lines][: ROWS_NAMED - len(self.lines)]
        self.values = self.values or other.values
        self.words.update(other.words)
        self.example = self.example or other.example


@dataclass
class Counts:
    """What was found in consecutive rows of one file."""

    rows: int = 0
    lines: int = 0
    usable: int = 0
    found: dict[str, Count] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)
    """For KTO: "good" and "bad" answers."""
    tools: int = 0
    """Rows that come with tools or calls of them."""
    media: Media = field(default_factory=Media)
    lost: array[int] = field(default_factory=lambda: array("Q"))
    """Numbers of the rows from which nothing is learnt."""
    hashes: array[int] = field(default_factory=lambda: array("Q"))
    """One a row: equal conversations have the same; 0 for a row without one."""
    mended: array[int] = field(default_factory=lambda: array("Q"))
    """The same for the copy in which all is mended that can be; 0 for a row that it lacks or teaches nothing by."""
    left: Counter[str] = field(default_factory=Counter)
    """What would still be found in rows of that copy."""
    relabelled: Counter[str] = field(default_factory=Counter)
    """By how much its labels would differ from ``labels``."""
    preview: list[Preview] = field(default_factory=list)
    sample: Thinned = field(default_factory=Thinned)
    """Rows for what is too slow to be done with all of them."""

    def append(self, other: Counts) -> None:
        """Add what the next part of the file holds."""
        for code, count in other.found.items():
            self.found.setdefault(code, Count()).append(count, self.rows, self.lines)
        self.sample.append(other.sample, self.rows)
        self.lost.extend(row + self.rows for row in other.lost)
        self.rows += other.rows
        self.lines += other.lines
        self.usable += other.usable
        self.labels.update(other.labels)
        self.tools += other.tools
        self.media.append(other.media)
        self.hashes.extend(other.hashes)
        self.mended.extend(other.mended)
        self.left.update(other.left)
        self.relabelled.update(other.relabelled)


class Tally:
    """Takes rows one by one, keeps counts and the first row numbers only."""

    def __init__(self, seen: Look, task: Task, *, previewed: int = PREVIEWED) -> None:
        self._seen, self._task, self._form, self._shape = seen, task, seen.form, seen.shape
        self._previewed = previewed
        self._kinds: dict[tuple[str, ...], str] = {}
        self._menders: dict[frozenset[str], RowMender] = {}
        self._label = seen.form.column("label") if task == "kto" else None
        self._tools = seen.form.column("tools")
        self._quick = not set(seen.form.kept.values()) - _PLAIN
        self._rejected = seen.form.column("rejected_response")
        self._typed = seen.shape.typed() if seen.shape is not None else {}
        self.counts = Counts(media=Media.of(seen.form, seen.file.path))

    def add(self, number: int, item: Row | Fault, *, late: bool) -> None:
        counts, fault = self.counts, isinstance(item, Fault)
        counts.rows += 1
        row: Row | None
        if isinstance(item, Fault):
            self._note_fault(item, number)
            counts.mended.append(self._foreseen_of_fault(item))
            row = item.row
        else:
            row = item
        if row is None:
            counts.hashes.append(0)
            return
        codes = self._codes_quickly(row, number) if self._quick else self._codes(row, number)
        if not fault:
            counts.mended.append(self._foreseen(row, codes) if codes else counts.hashes[-1])
        if self._form.kind != "none" and (not codes or not LOST.intersection(codes)):
            counts.usable += 1
        else:
            counts.lost.append(number)
        if late and self._shape is not None and (breach := self._shape.breach(row)) is not None:
            self._note(breach[0], number, word=breach[1])
        if not (number - 1) % self.counts.sample.step:
            self.counts.sample.offer(number, row)
        if len(self.counts.preview) < self._previewed:
            self.counts.preview.append(preview_of(number, row, self._form, codes))

    def _codes_quickly(self, row: Row, number: int) -> list[str]:
        if self._shape is not None and self._shape.as_loaded(row) is not row:
            return self._codes(row, number)
        parts = plain_parts(row, self._form)
        if parts is None or (self._rejected is not None and not differs(row.get(self._rejected), parts[-1])):
            return self._codes(row, number)
        if self._label is not None:
            label = label_problem(row.get(self._label), self._typed.get(self._label))
            if label not in ("good", "bad"):
                return self._codes(row, number)
            self.counts.labels[label] += 1
        self.counts.hashes.append(_hash([*parts, *self._beside(row, self._form)] if self._form.kept else parts))
        return []

    def _codes(self, row: Row, number: int) -> list[str]:
        """What is wrong with one row; noted as well."""
        form, word = self._form, ""
        turns: list[Turn] = []
        if form.kind == "none":
            self.counts.hashes.append(0)
            return [form.problem or "columns_unknown"]
        try:
            loaded = row if self._shape is None else self._shape.as_loaded(row)
            turns = turns_of(loaded, form)
            codes = problems(turns, self._task)
            if self._task in PAIRED:
                codes += pair_problems(loaded, form, turns)
        except Unusable as error:
            codes, word = [error.code], error.what
            if error.code == "row_no_turns" and form.kind == "messages":
                other = self._other_format(row)
                codes, word = ["row_other_format" if other else "row_no_turns"], other
        self.counts.hashes.append(0 if LOST.intersection(codes) else fingerprint(turns, self._beside(row, form)))
        if self._tools is not None:
            codes = self._tool_codes(row, codes)
        if self._label is not None and (problem := label_problem(row.get(self._label), self._typed.get(self._label))):
            codes = [*codes, problem] if problem not in ("good", "bad") else codes
            self.counts.labels[problem] += 1
        if self.counts.media.columns and (missing := self.counts.media.missing(row)):
            codes, word = [*codes, "media_missing"], printable(missing, 80)
        if codes:
            codes = list(dict.fromkeys(codes))
            example = _example(turns, row)
            for code in codes:
                self._note(code, number, word=word, example=example)
        return codes

    @staticmethod
    def _beside(row: Row, form: Format) -> list[str]:
        """What ms-swift keeps beside the conversation, which rows that repeat each other share too."""
        return [repr((name, row[column])) for column, name in form.kept.items() if row.get(column) is not None]

    def _foreseen_of_fault(self, fault: Fault) -> int:
        """The fingerprint of what can be saved of a broken line in a mended copy; 0: nothing."""
        fix = FIXES.get(fault.code)
        row = saved(fault) if fix in ("join_ragged", "drop_broken") else None
        if fix is None:
            self.counts.left[fault.code] += 1
        if row is None or self._form.kind == "none":
            return 0
        mender = self._mender(frozenset())
        return self._foreseen(row, mender.codes(row))

    def _foreseen(self, row: Row, codes: list[str]) -> int:
        """The fingerprint of ``row`` in a copy in which all that it has part in is mended; 0: it is not there, or
        teaches nothing."""
        counts, form = self.counts, self._form
        known = self._label is not None
        if known and (label := label_problem(row.get(self._label or ""), self._typed.get(self._label or ""))):
            counts.relabelled[label] -= 1
        if form.kind == "none" and form.problem != "pairs_without_prompt":
            return 0
        fixes = frozenset(fix for code in codes if (fix := FIXES.get(code)) is not None) - OPTIONAL
        mender = self._mender(fixes)
        _, mended = mender.mended(row)
        if mended is None:
            return 0
        left = [*mender.codes(mended), *(code for code in codes if code == "media_missing")]
        if known and (label := next((code for code in left if code in ("good", "bad")), "")):
            counts.relabelled[label] += 1
        left = [code for code in left if code not in ("good", "bad")]
        counts.left.update(dict.fromkeys(left, 1))
        if LOST.intersection(left):
            return 0
        own = mender.form_of(mended)
        try:
            return fingerprint(turns_of(mended, own), self._beside(mended, own))
        except Unusable:
            return 0

    def _mender(self, fixes: frozenset[str]) -> RowMender:
        """Few sets of repairs come up in one file."""
        if fixes not in self._menders:
            path = self._seen.file.path
            folder = path if path.is_dir() else path.parent
            self._menders[fixes] = RowMender(self._form, self._task, fixes, folder)
        return self._menders[fixes]

    def _tool_codes(self, row: Row, codes: list[str]) -> list[str]:
        tools = row.get(self._tools or "")
        self.counts.tools += bool(tools)
        return ["row_bad_tools"] if isinstance(tools, str) and not tools.strip() else codes

    def _other_format(self, row: Row) -> str:
        """The format of a row that does not have the file's columns, by its own; empty: none."""
        keys = tuple(name for name, value in row.items() if value is not None)
        if keys not in self._kinds:
            form = detect(keys, [row], task=self._task)
            self._kinds[keys] = form.name or "" if form.problem is None and form.kind != "messages" else ""
        return self._kinds[keys]

    def _note(self, code: str, number: int, *, word: str = "", example: str = "") -> None:
        self.counts.found.setdefault(code, Count()).note(number, word, example)

    def _note_fault(self, fault: Fault, number: int) -> None:
        self._note(fault.code, number)
        count = self.counts.found[fault.code]
        if len(count.lines) < ROWS_NAMED:
            count.lines.append(fault.line)
        count.values = count.values or dict(fault.values)


def fingerprint(turns: list[Turn], beside: Sequence[str] = ()) -> int:
    """64 bits that equal conversations with the same ``beside`` them share; 0 for none.

    Two of 10 million different rows share one with a chance of 3e-6.
    """
    if not any(content not in ("", None) for _, content, _ in turns):
        return 0
    muted = [str(place) for place, turn in enumerate(turns) if not turn.loss]
    return _hash([*(word for role, content, _ in turns for word in (role, _hashable(content))), *muted, *beside])


def _hash(parts: Sequence[str]) -> int:
    return xxh3_64_intdigest("\x1f".join(parts).encode("utf-8", "surrogatepass")) or 1


def _hashable(content: Any) -> str:
    return content if type(content) is str else repr(content)


def _example(turns: list[Turn], row: Row) -> str:
    """A few words of a row, to know it again."""
    first: Any = next((turn.content for turn in turns if turn.role == "user"), None)
    if not isinstance(first, str) or not first.strip():
        first = next((value for value in row.values() if isinstance(value, str) and value.strip()), str(row)[:200])
    return printable(str(first).strip()[:80], 60)
