"""Several data sets as one table, with ms-swift's own arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.datasets.data import read_data
from services.datasets.mix import mix, share
from services.datasets.sources import Source
from services.errors import Refused
from services.settings import Settings
from services.specs import TrainSpec


@pytest.mark.parametrize(
    ("rows", "asked", "ratio", "streaming", "expected"),
    [
        (100, None, 0, False, (100, 0)),
        (100, 30, 0, False, (30, 0)),
        (100, 250, 0, False, (250, 0)),
        (100, 250, 0, True, (100, 0)),
        (100, None, 0.1, False, (90, 10)),
        (100, 30, 0.1, False, (27, 3)),
        (100, 250, 0.1, False, (240, 10)),
        (5, None, 0.01, False, (4, 1)),
        (100, 30, 1, False, (0, 30)),
    ],
)
def test_rows_are_divided_as_ms_swift_divides_them(
    rows: int, asked: int | None, ratio: float, streaming: bool, expected: tuple[int, int]
) -> None:
    found = share(rows, asked, ratio, streaming=streaming)
    assert (found.taken, found.held_out) == expected


@pytest.mark.parametrize(("rows", "asked"), [(1, None), (100, 1)])
def test_a_split_that_leaves_nothing_is_refused(rows: int, asked: int | None) -> None:
    with pytest.raises(Refused) as refused:
        share(rows, asked, 0.5)
    assert refused.value.code == "split_leaves_nothing"


def a_file(settings: Settings, name: str, count: int, **columns: str) -> str:
    path = settings.home / name
    names = columns or {"query": "q", "response": "a"}
    rows = ({key: f"{text}{n}" for key, text in names.items()} for n in range(count))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def rows_of(source: Source) -> int | None:
    assert source.path is not None
    return source.path.read_text().count("\n") if source.path.name != "unknown.jsonl" else None


def table(settings: Settings, *dataset: str, **args: Any) -> Any:
    return mix(TrainSpec(dataset=dataset, args=args), settings, rows_of, lambda source: 10.5)


def test_the_table_has_a_row_for_each_and_totals(settings: Settings) -> None:
    one, two = a_file(settings, "a b,c.jsonl", 100), a_file(settings, "b#2.jsonl", 40)
    found = table(settings, one, f"{two}#10", "sample#20")
    assert [(row.rows, row.asked, row.taken, row.tokens) for row in found.rows] == [
        (100, None, 100, 1050), (40, 10, 10, 105), (100, 20, 20, 210),
    ]  # fmt: skip
    assert (found.total, found.validation_total, found.tokens, found.notes) == (130, 0, 1365, ())


def test_a_number_that_is_not_known_yet_leaves_the_totals_open(settings: Settings) -> None:
    found = table(settings, a_file(settings, "unknown.jsonl", 3), a_file(settings, "a.jsonl", 4))
    assert [row.taken for row in found.rows] == [None, 4]
    assert (found.total, found.tokens) == (None, None)


def test_a_validation_file_switches_the_split_off_and_says_so(settings: Settings) -> None:
    held = a_file(settings, "val.jsonl", 7)
    found = table(settings, a_file(settings, "a.jsonl", 50), val_dataset=[held], split_dataset_ratio=0.1)
    assert (found.total, found.validation_total) == (50, 7)
    assert found.notes == ("dataset.mix.split_off_file",)


def test_what_streaming_changes_is_said(settings: Settings) -> None:
    found = table(settings, a_file(settings, "a.jsonl", 50), streaming=True, split_dataset_ratio=0.1)
    assert found.notes == ("dataset.mix.split_off_streaming", "dataset.mix.streaming_needs_steps")
    assert found.streaming and found.validation_total == 0


def test_repeating_is_said(settings: Settings) -> None:
    (note,) = table(settings, a_file(settings, "a.jsonl", 5) + "#12").notes
    assert (str(note), note.values["rows"], note.values["asked"]) == ("dataset.mix.repeats", 5, 12)


def test_each_row_says_for_itself_what_is_wrong_with_it(settings: Settings) -> None:
    found = table(settings, "nothing.jsonl", "owner/name#5", a_file(settings, "a.jsonl", 1), split_dataset_ratio=0.5)
    assert [row.state for row in found.rows] == ["refused", "not_downloaded", "refused"]
    assert [row.problem.code for row in found.rows if row.problem] == ["dataset_not_found", "split_leaves_nothing"]


def test_the_plan_counts_the_same_rows(settings: Settings) -> None:
    one, two = a_file(settings, "a.jsonl", 100), a_file(settings, "b.jsonl", 40)
    spec = TrainSpec(dataset=(one, f"{two}#10"), args={"split_dataset_ratio": 0.1})
    data = read_data(spec, settings)
    assert data.arguments == (one, f"{two}#10")
    assert data.rows == table(settings, one, f"{two}#10", split_dataset_ratio=0.1).total == 99


def test_the_plan_gives_validation_files_the_same_care(settings: Settings) -> None:
    one, held = a_file(settings, "a.jsonl", 10), a_file(settings, "val[1].jsonl", 4)
    data = read_data(TrainSpec(dataset=(one,), args={"val_dataset": [held], "split_dataset_ratio": 0.2}), settings)
    assert data.rows == 10
    (given,) = data.validation
    assert "[" not in given and Path(given).samefile(held)
    bad = a_file(settings, "bad.jsonl", 2, one="x", other="y")
    with pytest.raises(Refused) as refused:
        read_data(TrainSpec(dataset=(one,), args={"val_dataset": [bad]}), settings)
    assert refused.value.code == "dataset_blocked"


def test_a_mapping_of_the_persons_own_is_what_the_file_is_judged_by(settings: Settings) -> None:
    odd = a_file(settings, "odd.jsonl", 3, ask="x", tell="y")
    with pytest.raises(Refused):
        read_data(TrainSpec(dataset=(odd,), args={"columns": {"ask": "system", "tell": "system"}}), settings)
    given = {"ask": "query", "tell": "response"}
    assert read_data(TrainSpec(dataset=(odd,), args={"columns": given}), settings).rows == 3
