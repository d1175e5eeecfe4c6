"""One row, mended by the chosen repairs and judged as it is then: what a copy is written by, and what a check
foresees of it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import orjson

from services.datasets import pairs, repairs
from services.datasets.copies import packed
from services.datasets.formats import PAIRED, PROMPTED, Format, Task, detect
from services.datasets.labels import label_problem
from services.datasets.report import LOST
from services.datasets.rows import Row
from services.datasets.turns import Turn, Unusable, pair_problems, problems, turns_of

_SIGNATURES = 2_000
FOR_ROWS = frozenset({
    "text_cells", "rename_columns", "to_messages", "to_preference", "kto_labels", "lower_roles", "join_turns",
    "trim_turns", "neutral_tokens", "ungarble",
})  # fmt: skip
"""The repairs that change a row; all others leave rows out, or change the file around them."""
_LEAVES_OUT = {"lower_roles": "row_unknown_role", "ungarble": "row_garbled"}
"""Repairs that cannot mend everything -> the rows that go then."""


class RowMender:
    """Mends and judges rows of one file."""

    def __init__(self, form: Format, task: Task, fixes: Collection[str], folder: Path, *, dates: bool = False) -> None:
        """``form``: how the file's rows are read; ``folder``: where it lies, for the paths of pictures; ``dates``: its
        loader makes dates of some texts."""
        self._form, self._task, self._folder = form, task, folder
        self._fixes = frozenset(fixes)
        self._restructures = "to_messages" in fixes or ("text_cells" in fixes and dates)
        self._reshapes = self._restructures or not self._fixes.isdisjoint(("rename_columns", "to_preference"))
        self._drops = {fix.removeprefix("drop:") for fix in fixes if fix.startswith("drop:")}
        self._drops |= {code for fix, code in _LEAVES_OUT.items() if fix in fixes}
        if "drop_unusable" in fixes:
            self._drops |= LOST
        self._forms: dict[tuple[str, ...], Format] = {}

    def mended(self, row: Row) -> tuple[str, Row | None]:
        """("", the mended row), or (why it goes, None)."""
        reason, changed = self._changed(row)
        if changed is not None and self._drops and (reason := self._judged(changed)):
            return reason, None
        return reason, changed

    def form_of(self, row: Row) -> Format:
        """How a mended row is read: as the file, or by its own columns once it has new ones."""
        if not self._reshapes:
            return self._form
        columns = tuple(row)
        if columns not in self._forms and len(self._forms) < _SIGNATURES:
            self._forms[columns] = detect(columns, [row], task=self._task)
        return self._forms.get(columns, self._form)

    def codes(self, row: Row) -> list[str]:
        """The findings that a mended row still has part in."""
        return codes_of(row, self.form_of(row), self._task)

    def trained_on(self, row: Row) -> bytes:
        """What two rows must share to be the same to a trainer: the conversation and what ms-swift keeps beside it."""
        form = self.form_of(row)
        try:
            turns: list[Turn] = turns_of(row, form)
        except Unusable:
            return packed(row, orjson.OPT_SORT_KEYS)
        beside = {name: row.get(column) for column, name in form.kept.items()}
        return packed({"turns": [tuple(turn) for turn in turns], "beside": beside}, orjson.OPT_SORT_KEYS)

    def _changed(self, row: Row) -> tuple[str, Row | None]:
        fixes, changed = self._fixes, row
        if "lower_roles" in fixes:
            changed = repairs.lower_roles(changed)
        whole = self._whole(changed)
        if isinstance(whole, str):
            return whole, None
        changed = whole
        if "kto_labels" in fixes:
            labelled = repairs.kto_labels(changed)
            if labelled is None:
                return "row_label_unknown", None
            changed = labelled
        for name, repair in _PLAIN_REPAIRS.items():
            if name in fixes:
                changed = repair(changed)
        return "", repairs.with_whole_paths(changed, self._folder)

    def _whole(self, row: Row) -> Row | str:
        """``row`` in the shape that is wanted, or why it cannot be given it."""
        if "to_preference" in self._fixes and (pairs.is_pair(row) or self._task in PAIRED):
            pair = pairs.as_pair(row)
            kept = {name: row[column] for column, name in self._form.kept.items() if column in row}
            extra = {name: value for name, value in kept.items() if not name.startswith("rejected")}
            return "row_no_pair" if pair is None else pair | extra
        if "text_cells" in self._fixes:
            row = repairs.text_cells(row, self._form)
        if self._restructures:
            turned = repairs.to_messages(row, self._form, self._task)
            return "row_no_turns" if turned is None else turned | self._for_rewards(row, turned)
        if "rename_columns" in self._fixes:
            renamed = repairs.rename_columns(row, self._form)
            return renamed | self._for_rewards(row, renamed)
        return row

    def _for_rewards(self, row: Row, made: Row) -> Row:
        """The columns that reward functions are given: all those that are no part of the conversation."""
        if self._task not in PROMPTED:
            return {}
        used = {*self._form.roles.values(), *self._form.kept}
        return {name: value for name, value in row.items() if name not in used and name not in made}

    def _judged(self, row: Row) -> str:
        """Why ``row`` is to be left out, as it is now; empty: it stays."""
        return next((code for code in self.codes(row) if code in self._drops), "")


_PLAIN_REPAIRS = {
    "join_turns": repairs.join_turns,
    "trim_turns": repairs.trim_turns,
    "ungarble": repairs.ungarbled,
    "neutral_tokens": repairs.neutral_tokens,
}


def codes_of(row: Row, form: Format, task: Task) -> list[str]:
    """The findings that ``row`` has part in."""
    try:
        turns = turns_of(row, form)
        codes = problems(turns, task)
        if task in PAIRED:
            codes += pair_problems(row, form, turns)
    except Unusable as error:
        return [error.code]
    tools = row.get(form.column("tools") or "")
    if isinstance(tools, str) and not tools.strip() and form.column("tools") in row:
        codes.append("row_bad_tools")
    if task == "kto" and (label := form.column("label")) is not None:
        codes.append(label_problem(row.get(label), None))
    return codes
