"""A mended copy of a data file: JSON lines in UTF-8, beside nothing that was there before. The source is only read."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import orjson

from services.datasets import pairs, repairs
from services.datasets.check import look
from services.datasets.copies import Copy, packed
from services.datasets.digests import Digests
from services.datasets.files import DataFile, open_file
from services.datasets.formats import PAIRED, Format, Task, detect
from services.datasets.labels import label_problem
from services.datasets.report import LOST
from services.datasets.rows import Fault, Row
from services.datasets.turns import Unusable, pair_problems, problems, turns_of
from services.datasets.uploads import safe_name
from services.errors import Failed, Refused
from services.paths import printable

FIXES = (
    "convert", "join_ragged", "drop_broken", "text_cells", "rename_columns", "to_messages", "to_preference",
    "kto_labels", "lower_roles", "join_turns", "trim_turns", "drop_duplicates", "neutral_tokens", "drop_unusable",
)  # fmt: skip
"""What can be asked for; besides ``drop:<code>`` for the rows of one finding."""
_RAGGED = {"csv_long", "csv_shifted", "csv_short"}
_BETWEEN_LOOKS = 500
_SIGNATURES = 2_000


@dataclass(frozen=True)
class Mended:
    """What was written."""

    path: Path
    rows_written: int
    rows_dropped: int
    reasons: Mapping[str, int]
    """Why rows were dropped: the finding's code (or ``duplicate``, ``by_number``) -> how many."""


def mend(
    path: Path,
    fixes: Collection[str],
    to_folder: Path,
    *,
    task: Task = "sft",
    form: Format | None = None,
    drop: Collection[int] = (),
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Mended:
    """Write ``<stem>-clean.jsonl`` (or -2, -3 …) into ``to_folder``: the rows of ``path`` with ``fixes`` applied.

    ``form`` says what the columns mean (default: as found); ``drop`` lists rows by number. The copy appears whole or
    not at all. Raises Refused: mend_unknown_fix, mend_row_broken (a line that is no row, without "drop_broken"),
    mend_nothing_left, mend_stopped, dataset_unreadable; Failed("cannot_write").
    """
    unknown = [fix for fix in fixes if fix not in FIXES and not fix.startswith("drop:")]
    if unknown:
        raise Refused("mend_unknown_fix", fix=printable(", ".join(unknown), 60))
    try:
        return _written(path, _Mender(path, frozenset(fixes), task, form, frozenset(drop)), to_folder, progress, stop)
    except OSError as error:
        raise Failed("cannot_write", what=printable(str(to_folder)), details=str(error)) from error


class _Mender:
    """Takes rows and gives them back mended; counts those it drops."""

    def __init__(
        self, path: Path, fixes: frozenset[str], task: Task, form: Format | None, drop: frozenset[int]
    ) -> None:
        seen = look(path, task=task)
        self._folder = path if path.is_dir() else path.parent
        self._fixes, self._task, self._drop = fixes, task, drop
        self._form = form or seen.form
        dates = seen.shape is not None and "date" in seen.shape.typed().values()
        self._restructures = "to_messages" in fixes or ("text_cells" in fixes and dates)
        self._reshapes = self._restructures or not fixes.isdisjoint(("rename_columns", "to_preference"))
        self._drops = {fix.removeprefix("drop:") for fix in fixes if fix.startswith("drop:")}
        if "lower_roles" in fixes:
            self._drops.add("row_unknown_role")  # what is left then is no role in any spelling
        self._digests = Digests()
        self._forms: dict[tuple[str, ...], Format] = {}
        self.reasons: Counter[str] = Counter()

    def rows(self, file: DataFile) -> Iterator[Row | None]:
        """The mended rows; None for each one that is dropped. Raises Refused("mend_row_broken")."""
        for number, item in file.rows():
            reason, row = ("by_number", None) if number in self._drop else self._one(item)
            if row is None:
                self.reasons[reason] += 1
            yield row

    def _one(self, item: Row | Fault) -> tuple[str, Row | None]:
        if isinstance(item, Fault):
            row = self._of_fault(item)
            if row is None:
                return item.code, None
        else:
            row = item
        reason, row = self._changed(row)
        if row is None:
            return reason, None
        if (self._drops or "drop_unusable" in self._fixes) and (reason := self._judged(row)):
            return reason, None
        if "drop_duplicates" in self._fixes and not self._digests.add(self._trained_on(row)):
            return "duplicate", None
        return "", row

    def _of_fault(self, fault: Fault) -> Row | None:
        """What can be saved of a line that is no whole row."""
        if "join_ragged" in self._fixes and fault.mended is not None:
            return fault.mended
        if f"drop:{fault.code}" in self._fixes or "drop_broken" in self._fixes:
            return None
        if fault.code in _RAGGED and "join_ragged" in self._fixes:
            return fault.row if fault.code == "csv_short" else None
        raise Refused("mend_row_broken", line=fault.line, text=fault.values.get("text", "…"))

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
        if "join_turns" in fixes:
            changed = repairs.join_turns(changed)
        if "trim_turns" in fixes:
            changed = repairs.trim_turns(changed)
        if "neutral_tokens" in fixes:
            changed = repairs.neutral_tokens(changed)
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
            return repairs.to_messages(row, self._form, self._task) or "row_no_turns"
        return repairs.rename_columns(row, self._form) if "rename_columns" in self._fixes else row

    def _judged(self, row: Row) -> str:
        """Why ``row`` is to be dropped, as it is now; empty: it stays."""
        codes = codes_of(row, self._form_of(row), self._task)
        wanted = self._drops | (LOST if "drop_unusable" in self._fixes else set())
        return next((code for code in codes if code in wanted), "")

    def _form_of(self, row: Row) -> Format:
        """How a mended row is read: as the file, or by its own columns once it has new ones."""
        if not self._reshapes:
            return self._form
        columns = tuple(row)
        if columns not in self._forms and len(self._forms) < _SIGNATURES:
            self._forms[columns] = detect(columns, [row], task=self._task)
        return self._forms.get(columns, self._form)

    def _trained_on(self, row: Row) -> bytes:
        """What two rows must share to be the same to a trainer: the conversation and what ms-swift keeps beside it."""
        form = self._form_of(row)
        try:
            turns = [(turn.role, turn.content, turn.loss) for turn in turns_of(row, form)]
        except Unusable:
            return packed(row, orjson.OPT_SORT_KEYS)
        beside = {name: row.get(column) for column, name in form.kept.items()}
        return packed({"turns": turns, "beside": beside}, orjson.OPT_SORT_KEYS)


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


def _written(
    path: Path,
    mender: _Mender,
    to_folder: Path,
    progress: Callable[[float], None] | None,
    stop: Callable[[], bool] | None,
) -> Mended:
    file = open_file(path)
    to_folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=to_folder, prefix=".mend-", suffix=".partial")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb", buffering=1 << 20) as output:
            copy = Copy(output)
            for number, row in enumerate(mender.rows(file), 1):
                if number % _BETWEEN_LOOKS == 0:
                    _look_up(file.fraction(), progress, stop)
                if row is not None:
                    copy.add(row)
        if not copy.rows:
            raise Refused("mend_nothing_left", path=printable(str(path)))
        copy.put_first(partial)
        partial.chmod(0o644)
        target = _placed(partial, to_folder, clean_name(path))
    finally:
        partial.unlink(missing_ok=True)
    if progress is not None:
        progress(1.0)
    return Mended(target, copy.rows, sum(mender.reasons.values()), dict(mender.reasons))


def _look_up(part: float, progress: Callable[[float], None] | None, stop: Callable[[], bool] | None) -> None:
    if progress is not None:
        progress(part)
    if stop is not None and stop():
        raise Refused("mend_stopped")


def clean_name(path: Path) -> str:
    """The name of the copy of ``path``."""
    stem = path.name
    for suffix in reversed(path.suffixes[-2:]):
        if suffix[1:].lower() in ("jsonl", "json", "csv", "parquet", "arrow", "txt", "tsv", "ndjson", "gz", "zst"):
            stem = stem.removesuffix(suffix)
    return safe_name(f"{stem or 'data'}-clean.jsonl")


def _placed(partial: Path, folder: Path, name: str) -> Path:
    """Give ``partial`` the first free of name, name-2 …; never overwrites."""
    stem = name.removesuffix(".jsonl")
    for number in count(1):
        target = folder / (name if number == 1 else f"{stem}-{number}.jsonl")
        with contextlib.suppress(FileExistsError):
            os.link(partial, target)
            return target
    raise AssertionError("unreachable")
