"""What a check says: findings as codes with values, and the one verdict that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Level = Literal["info", "warning", "blocked"]
Verdict = Literal["ok", "ok-with-warnings", "blocked"]

ROWS_NAMED = 20
"""How many row numbers a finding lists; ``count`` is always the whole number."""

INFO = {
    "columns_spelling", "columns_unused", "columns_offered", "columns_for_rewards", "columns_pair",
    "row_part_not_trained", "tools_used", "tools_setting", "media_folder", "kto_labels", "kto_batch", "partial",
    "folder_ignored", "name_sign", "file_same_time", "lengths", "audit_sample", "audit_missing",
}  # fmt: skip
BLOCKED = {
    "file_ending", "file_no_ending", "file_empty", "file_is_page", "file_is_pointer", "file_is_binary", "not_utf8",
    "not_utf8_unknown", "parquet_broken", "arrow_broken", "packed_broken", "folder_no_data", "folder_no_split",
    "folder_media", "folder_columns_differ", "line_too_long", "json_columns", "json_array_start", "json_broken",
    "json_cut", "json_no_object", "csv_delimiter", "csv_shifted", "csv_long", "csv_quote_open", "columns_unknown",
    "columns_twice", "columns_clash", "no_question_column", "no_answer_column", "no_rejected_column",
    "no_label_column", "pairs_without_prompt", "rows_nested", "preference_set", "cells_number", "cells_bool",
    "cells_date", "late_column", "late_type", "late_key", "no_rows", "nothing_usable", "label_text", "label_number",
    "label_missing", "row_kto_no_answer", "length_none_left", "audit_nothing",
}  # fmt: skip
LOST = {
    "row_no_turns", "row_null_content", "row_unknown_role", "row_no_role", "row_system_not_first", "row_not_text",
    "row_turn_order", "row_bad_call", "row_bad_shape", "row_no_question", "row_bad_tools", "row_rejected_same",
    "row_rejected_missing", "row_other_format", "row_no_answer", "row_blank_answer", "row_blank_text",
    "row_not_trained", "row_kto_no_answer", "label_missing", "media_missing",
}  # fmt: skip
"""Findings about rows from which nothing is learnt: dropped by ms-swift, or kept without an answer."""
FIXES = {
    **dict.fromkeys(
        (
            "file_ending", "file_no_ending", "not_utf8", "json_array_start", "json_columns", "csv_delimiter",
            "folder_columns_differ",
        ),
        "convert",
    ),
    **dict.fromkeys(("csv_long", "csv_shifted", "csv_short"), "join_ragged"),
    **dict.fromkeys(
        ("columns_spelling", "columns_translated", "columns_chosen", "columns_guessed", "columns_pair"),
        "rename_columns",
    ),
    **dict.fromkeys(("cells_number", "cells_bool", "cells_date", "row_not_text"), "text_cells"),
    **dict.fromkeys(("json_broken", "json_cut", "json_no_object", "not_utf8_unknown"), "drop_broken"),
    **dict.fromkeys(("late_column", "late_type", "late_key", "row_other_format", "row_bad_shape"), "to_messages"),
    **dict.fromkeys(("label_text", "label_number"), "kto_labels"),
    **dict.fromkeys(("row_starts_with_assistant", "row_ends_with_user"), "trim_turns"),
    "pairs_without_prompt": "to_preference",
    "row_unknown_role": "lower_roles",
    "row_garbled": "ungarble",
    "row_same_role_twice": "join_turns",
    "row_control_tokens": "neutral_tokens",
    "rows_repeated": "drop_duplicates",
    **{
        code: f"drop:{code}"
        for code in (
            "row_no_turns", "row_null_content", "row_no_role", "row_system_not_first", "row_turn_order",
            "row_bad_call", "row_no_question", "row_bad_tools", "row_rejected_same", "row_rejected_missing",
            "row_rejected_spaces", "row_rejected_equal", "row_rejected_blank", "row_no_answer", "row_blank_answer",
            "row_part_blank", "row_blank_text", "row_blank_question", "row_not_trained", "row_kto_no_answer",
            "label_missing",
        )
    },
}  # fmt: skip
"""Finding -> the repair of services/datasets/mend.py that writes a copy without it."""
OPTIONAL = {fix for code, fix in FIXES.items() if fix.startswith("drop") and code not in LOST | BLOCKED}
"""Repairs that leave out rows which can be trained on: repeated ones, questions without text …"""
ORDER = ("blocked", "warning", "info")


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
    example: str = ""
    """A few words of the first such row or line."""

    @property
    def fix(self) -> str | None:
        """The repair that writes a copy without it; None: nothing to repair, or not by a program."""
        return FIXES.get(self.code)

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
            "example": self.example,
        }
        return shown | dict(self.values)


@dataclass(frozen=True)
class AfterFix:
    """What the file comes to once everything with a ``fix`` is mended in a copy; rows that can be trained on as they
    are stay (no repair of ``OPTIONAL``)."""

    verdict: Verdict
    usable: int


@dataclass(frozen=True)
class Stage:
    """One part of a check that is done."""

    name: Literal["look", "scan", "audit"]
    seconds: float
    rows: int


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
    after_fix: AfterFix
    mapping: Mapping[str, str]
    """Column -> role."""
    columns: tuple[str, ...]
    settings: Mapping[str, Any]
    """ms-swift arguments that this file needs, for example ``{"columns": {"Messages": "messages"}}``."""
    findings: tuple[Finding, ...]
    preview: tuple[Preview, ...]
    complete: bool = True
    """False: the check was limited or stopped, so the numbers are about the part that was read."""
    confidence: float = 0.0
    """How sure ``format`` is, 0 to 1."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that this file needs, for example ``ROOT_IMAGE_DIR``."""
    stages: tuple[Stage, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.findings)

    def as_json(self) -> dict[str, Any]:
        value = asdict(self) | {"path": str(self.path), "verdict": self.verdict}
        for finding, shown in zip(self.findings, value["findings"], strict=True):
            shown |= {"level": finding.level, "fix": finding.fix}
        return value


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    levels = {finding.level for finding in findings}
    return "blocked" if "blocked" in levels else "ok-with-warnings" if "warning" in levels else "ok"


def after_fix(left: Iterable[Finding], usable: int) -> AfterFix:
    """What a mended copy comes to, of which ``left`` would still be said; ``usable``: its rows to learn from."""
    verdict = verdict_of(left) if usable else "blocked"
    return AfterFix(verdict, 0 if verdict == "blocked" else usable)


def columns_argument(report: Report) -> dict[str, str] | None:
    """The ``--columns`` mapping that mends this file, or None when it needs none."""
    return dict(report.settings["columns"]) if "columns" in report.settings else None
