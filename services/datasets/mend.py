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

from services.datasets.check import look
from services.datasets.copies import Copy
from services.datasets.csv_rows import RAGGED, saved
from services.datasets.digests import Digests
from services.datasets.files import DataFile, open_file
from services.datasets.formats import Format, Task
from services.datasets.row_mender import RowMender
from services.datasets.rows import Fault, Row
from services.datasets.uploads import safe_name
from services.errors import Failed, Refused
from services.paths import printable

FIXES = (
    "convert", "join_ragged", "drop_broken", "text_cells", "rename_columns", "to_messages", "to_preference",
    "kto_labels", "lower_roles", "join_turns", "trim_turns", "ungarble", "drop_duplicates", "neutral_tokens",
    "drop_unusable",
)  # fmt: skip
"""What can be asked for; besides ``drop:<code>`` for the rows of one finding."""
_BETWEEN_LOOKS = 500


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
    columns: Mapping[str, str] | None = None,
    drop: Collection[int] = (),
    progress: Callable[[float], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Mended:
    """Write ``<stem>-clean.jsonl`` (or -2, -3 …) into ``to_folder``: the rows of ``path`` with ``fixes`` applied.

    ``form`` says what the columns mean (default: as found, with a person's own ``columns``); ``drop`` lists rows by
    number. The copy appears whole or not at all. Raises Refused: mend_unknown_fix, mend_row_broken (a line that is no
    row, without "drop_broken"), mend_nothing_left, mend_stopped, dataset_unreadable; Failed("cannot_write").
    """
    unknown = [fix for fix in fixes if fix not in FIXES and not fix.startswith("drop:")]
    if unknown:
        raise Refused("mend_unknown_fix", fix=printable(", ".join(unknown), 60))
    try:
        mender = _Mender(path, frozenset(fixes), task, form, columns, frozenset(drop))
        return _written(path, mender, to_folder, progress, stop)
    except OSError as error:
        raise Failed("cannot_write", what=printable(str(to_folder)), details=str(error)) from error


class _Mender:
    """Takes what a file holds and gives rows back mended; counts those it drops."""

    def __init__(
        self, path: Path, fixes: frozenset[str], task: Task, form: Format | None, columns: Mapping[str, str] | None,
        drop: frozenset[int],
    ) -> None:  # fmt: skip
        seen = look(path, task=task, columns=columns)
        self._fixes, self._drop = fixes, drop
        dates = seen.shape is not None and "date" in seen.shape.typed().values()
        folder = path if path.is_dir() else path.parent
        self._rows = RowMender(form or seen.form, task, fixes, folder, dates=dates)
        self._digests = Digests()
        self.reasons: Counter[str] = Counter()

    def rows(self, file: DataFile) -> Iterator[Row | None]:
        """The mended rows; None for each one that is dropped. Raises Refused("mend_row_broken")."""
        for number, item in file.rows():
            reason, row = ("by_number", None) if number in self._drop else self._one(item)
            if row is None:
                self.reasons[reason] += 1
            yield row

    def _one(self, item: Row | Fault) -> tuple[str, Row | None]:
        whole = self._of_fault(item) if isinstance(item, Fault) else item
        if whole is None:
            assert isinstance(item, Fault)
            return item.code, None
        reason, row = self._rows.mended(whole)
        if row is None:
            return reason, None
        if "drop_duplicates" in self._fixes and not self._digests.add(self._rows.trained_on(row)):
            return "duplicate", None
        return "", row

    def _of_fault(self, fault: Fault) -> Row | None:
        """What can be saved of a line that is no whole row."""
        if f"drop:{fault.code}" in self._fixes or "drop_broken" in self._fixes:
            return saved(fault) if fault.code not in RAGGED or "join_ragged" in self._fixes else None
        if fault.code in RAGGED and "join_ragged" in self._fixes:
            return saved(fault)
        raise Refused("mend_row_broken", line=fault.line, text=fault.values.get("text", "…"))


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
