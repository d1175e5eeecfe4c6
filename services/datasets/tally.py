"""Adds the rows of a file up to a Report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.datasets import shape
from services.datasets.files import DataFile
from services.datasets.formats import Format, Task, detect
from services.datasets.preview import preview_of
from services.datasets.report import LOST, ROWS_NAMED, Finding, Preview, Report
from services.datasets.rows import Fault, Row
from services.datasets.turns import Unusable, problems, turns_of

PREVIEWED = 20


@dataclass(frozen=True)
class Look:
    """What the beginning of a file tells about the whole: readable, which columns, which format."""

    file: DataFile
    columns: tuple[str, ...]
    form: Format
    shape: shape.Shape | None


@dataclass
class _Count:
    count: int = 0
    rows: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    values: Mapping[str, object] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)


class Tally:
    """Takes rows one by one, keeps counts and the first row numbers only."""

    def __init__(self, seen: Look, task: Task) -> None:
        self._seen, self._task, self._form = seen, task, seen.form
        self._counts: dict[str, _Count] = {}
        self._preview: list[Preview] = []
        self._rows = self._usable = 0
        self._kinds: dict[tuple[str, ...], str] = {}
        self._formats: Counter[str] = Counter()
        self._shape = seen.shape

    def add(self, number: int, item: Row | Fault, *, late: bool) -> None:
        self._rows += 1
        row: Row | None
        if isinstance(item, Fault):
            self._note_fault(item, number)
            row = item.row
        else:
            row = item
        if row is None:
            return
        codes = self._codes(row, number)
        if self._form.kind != "none" and not LOST.intersection(codes):
            self._usable += 1
        if late and self._shape is not None and (breach := self._shape.breach(row)) is not None:
            self._note(breach[0], number, word=breach[1])
        if len(self._preview) < PREVIEWED:
            self._preview.append(preview_of(number, row, self._form, codes))

    def _codes(self, row: Row, number: int) -> list[str]:
        """What is wrong with one row; noted as well."""
        form, word = self._form, ""
        if form.kind == "none":
            return [form.problem or "columns_unknown"]
        try:
            loaded = row if self._shape is None else self._shape.as_loaded(row)
            codes = problems(turns_of(loaded, form), self._task)
        except Unusable as error:
            codes, word = [error.code], error.what
            if error.code == "row_no_turns" and form.kind == "messages":
                other = self._other_format(row)
                codes = ["row_other_format" if other else "row_no_turns"]
                word = other
        if "tools" in form.kept and isinstance(tools := row.get("tools"), str) and not tools.strip():
            codes = ["row_bad_tools"]
        if codes:
            codes = list(dict.fromkeys(codes))
            for code in codes:
                self._note(code, number, word=word)
        return codes

    def _other_format(self, row: Row) -> str:
        """The format of a row that does not have the file's columns, by its own; empty: none."""
        keys = tuple(name for name, value in row.items() if value is not None)
        if keys not in self._kinds:
            form = detect(keys, [row], task=self._task)
            self._kinds[keys] = form.name or "" if form.problem is None and form.kind != "messages" else ""
        return self._kinds[keys]

    def _note(self, code: str, number: int, *, word: str = "") -> None:
        count = self._counts.setdefault(code, _Count())
        count.count += 1
        if len(count.rows) < ROWS_NAMED:
            count.rows.append(number)
        if word:
            count.words[word] += 1

    def _note_fault(self, fault: Fault, number: int) -> None:
        self._note(fault.code, number)
        count = self._counts[fault.code]
        if len(count.lines) < ROWS_NAMED:
            count.lines.append(fault.line)
        count.values = count.values or fault.values

    def report(self, complete: bool) -> Report:
        form, whole = self._form, self._whole_file(complete)
        findings = whole + [
            Finding(code, one.count, tuple(one.rows), tuple(one.lines), self._values(one))
            for code, one in self._counts.items()
        ]
        if not any(finding.level == "blocked" for finding in findings) and not self._usable and complete:
            findings.insert(0, Finding("nothing_usable", values={"total": self._rows}))
        findings.sort(key=lambda finding: ("blocked", "warning", "info").index(finding.level))
        blocked = bool(findings) and findings[0].level == "blocked"
        other = "row_other_format" in self._counts
        return Report(
            path=self._seen.file.path,
            task=self._task,
            format="mixed" if other else form.name,
            rows=self._rows,
            usable=0 if blocked else self._usable,
            after_fix=self._usable + (self._counts["row_other_format"].count if other else 0),
            mapping=form.mapping,
            columns=self._seen.columns,
            settings={"columns": dict(form.columns)} if form.columns and not blocked else {},
            findings=tuple(findings),
            preview=tuple(self._preview),
            complete=complete,
        )

    def _values(self, one: _Count) -> dict[str, object]:
        words = ", ".join(f"{word} ({times})" for word, times in one.words.most_common(8))
        first = {"line": one.lines[0]} if one.lines else {}
        return {"words": words, "total": self._rows, "format": self._form.name} | first | dict(one.values)

    def _whole_file(self, complete: bool) -> list[Finding]:
        """Findings about the file and its columns."""
        form, file = self._form, self._seen.file
        found = [
            Finding(fault.code, lines=(fault.line,), values={"line": fault.line} | dict(fault.values))
            for fault in file.faults
        ]
        if not self._rows and not found:
            found.append(Finding("no_rows"))
        if self._rows and form.problem is not None and self._seen.columns:
            found.append(Finding(form.problem, self._rows, values=form.values))
        found += self._cells()
        if form.note is not None:
            found.append(Finding(form.note, self._rows, values=form.values))
        if form.unused:
            found.append(Finding("columns_unused", self._rows, values={"columns": ", ".join(form.unused)}))
        found += self._extras()
        if not complete:
            found.append(Finding("partial", self._rows))
        return found

    def _cells(self) -> list[Finding]:
        """Columns of text that the loader will not read as text."""
        typed = self._seen.shape.typed() if self._seen.shape is not None else {}
        by_kind: dict[str, list[str]] = {}
        for name, kind in typed.items():
            joined = kind == "number" and name in map(self._form.roles.get, ("instruction", "input"))
            if name in self._form.roles.values() and not joined and self._rows:
                by_kind.setdefault(kind, []).append(name)
        return [
            Finding(f"cells_{kind}", self._rows, values={"columns": ", ".join(names), "ending": self._ending})
            for kind, names in by_kind.items()
        ]

    @property
    def _ending(self) -> str:
        return self._seen.file.path.suffix.lstrip(".")

    def _extras(self) -> list[Finding]:
        """What lies beside the conversation and matters."""
        found = []
        name = self._form.name or ""
        if "+tools" in name:
            found.append(Finding("tools_used", self._rows))
        for media in ("images", "videos", "audios"):
            if f"+{media}" in name:
                found.append(Finding("media_used", self._rows, values={"media": media}))
        if "rejected" in name and self._form.problem is None:
            found.append(Finding("preference_ignored", self._rows))
        if name == "kto":
            found.append(Finding("label_ignored", self._rows))
        return found
