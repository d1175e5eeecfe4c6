"""What a check says: findings as codes with values, and the one verdict that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Level = Literal["info", "warning", "blocked"]
Verdict = Literal["ok", "ok-with-warnings", "blocked"]

ROWS_NAMED = 20
"""How many row numbers a finding lists; ``count`` is always the whole number."""

INFO = {"columns_spelling", "columns_unused", "row_part_not_trained", "tools_used", "partial"}
BLOCKED = {
    "file_ending", "file_no_ending", "file_empty", "file_is_page", "file_is_pointer", "file_is_binary", "not_utf8",
    "not_utf8_unknown", "parquet_broken", "json_array_start", "json_broken", "json_cut", "json_no_object",
    "csv_delimiter", "csv_shifted", "csv_long", "csv_quote_open", "columns_unknown", "columns_twice",
    "columns_clash", "no_question_column", "no_answer_column", "rows_nested", "preference_set", "cells_number",
    "cells_bool", "cells_date", "late_column", "late_type", "late_key", "no_rows", "nothing_usable",
}  # fmt: skip
LOST = {
    "row_no_turns", "row_null_content", "row_unknown_role", "row_no_role", "row_system_not_first", "row_not_text",
    "row_turn_order", "row_bad_call", "row_bad_shape", "row_no_question", "row_bad_tools", "row_rejected_same",
    "row_other_format", "row_no_answer", "row_blank_answer", "row_blank_text", "row_not_trained",
}  # fmt: skip
"""Findings about rows from which nothing is learnt: dropped by ms-swift, or kept without an answer."""


@dataclass(frozen=True)
class Finding:
    """One thing to tell: ``dataset.finding.<code>`` of services/text, its gaps filled from ``gaps()``."""

    code: str
    count: int = 1
    """How many rows (or lines) it is about."""
    rows: tuple[int, ...] = ()
    """The first of them, 1-based data rows."""
    lines: tuple[int, ...] = ()
    """For faults of the text itself: the first physical lines, 1-based."""
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def level(self) -> Level:
        return "blocked" if self.code in BLOCKED else "info" if self.code in INFO else "warning"

    def gaps(self) -> dict[str, object]:
        """All values of the sentence, with the lists of rows and lines as text."""
        more = " …" if self.count > max(len(self.rows), len(self.lines)) else ""
        shown = {
            "rows": ", ".join(map(str, self.rows)) + (more if self.rows else ""),
            "lines": ", ".join(map(str, self.lines)) + (more if self.lines else ""),
            "count": self.count,
        }
        return shown | dict(self.values)


@dataclass(frozen=True)
class Turn:
    """One turn as shown to a person: plain text, never markup."""

    role: str
    content: str


@dataclass(frozen=True)
class Preview:
    """One row as a conversation; ``raw`` instead of turns where none could be made of it."""

    row: int
    turns: tuple[Turn, ...] = ()
    raw: str = ""
    codes: tuple[str, ...] = ()
    """Findings this row has part in."""


@dataclass(frozen=True)
class Report:
    """The result of a check."""

    path: Path
    task: str
    format: str | None
    rows: int
    """Records in the file, broken ones included."""
    usable: int
    """Rows from which something is learnt when training starts with ``settings``; 0 when blocked."""
    after_fix: int
    """What ``usable`` would be once the file as a whole is mended."""
    mapping: Mapping[str, str]
    """Column -> role."""
    columns: tuple[str, ...]
    settings: Mapping[str, Any]
    """ms-swift arguments that this file needs, for example ``{"columns": {"Messages": "messages"}}``."""
    findings: tuple[Finding, ...]
    preview: tuple[Preview, ...]
    complete: bool = True
    """False: the check was limited or stopped, so the numbers are about the part that was read."""

    @property
    def verdict(self) -> Verdict:
        levels = {finding.level for finding in self.findings}
        return "blocked" if "blocked" in levels else "ok-with-warnings" if "warning" in levels else "ok"

    def as_json(self) -> dict[str, Any]:
        value = asdict(self) | {"path": str(self.path), "verdict": self.verdict}
        for finding, shown in zip(self.findings, value["findings"], strict=True):
            shown["level"] = finding.level
        return value


def columns_argument(report: Report) -> dict[str, str] | None:
    """The ``--columns`` mapping that mends this file, or None when it needs none."""
    return dict(report.settings["columns"]) if "columns" in report.settings else None
