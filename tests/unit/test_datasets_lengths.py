"""What a max_length does to rows, from the places of their trained tokens."""

from __future__ import annotations

import pytest

from services.datasets.lengths import Lengths, Strategy

#               short  prompt too long  answer cut   nothing trained
LENGTHS = Lengths((1, 2, 3, 4), (10, 30, 25, 5), (4, 25, 10, -1), (9, 29, 24, -1), (6, 5, 15, 0), (True,) * 4)


@pytest.mark.parametrize(
    ("strategy", "lost", "cut", "empty"),
    [("delete", (2, 3, 4), (3,), (2,)), ("right", (2, 4), (3,), (2,)), ("left", (4,), (), ())],
)
def test_rows_over_the_limit_are_dropped_or_cut(
    strategy: Strategy, lost: tuple[int, ...], cut: tuple[int, ...], empty: tuple[int, ...]
) -> None:
    found = LENGTHS.cut(20, strategy)
    assert found.over == ((2, 30), (3, 25))
    assert (found.lost, found.cut, found.empty, found.needed) == (lost, cut, empty, 30)


def test_a_row_as_long_as_the_limit_stays_whole() -> None:
    assert LENGTHS.cut(30, "delete").over == ()


def test_cut_from_the_left_an_answer_longer_than_the_limit_loses_its_beginning() -> None:
    lengths = Lengths((1,), (100,), (10,), (99,), (90,), (True,))
    assert lengths.cut(50, "left").cut == (1,)
    assert lengths.cut(95, "left").cut == ()


def test_the_histogram_counts_every_row_once() -> None:
    bars = LENGTHS.histogram(3)
    assert bars == [(1, 10, 2), (11, 20, 0), (21, 30, 2)]
    assert Lengths((), (), (), (), (), ()).histogram() == []


def test_padding_is_what_the_longest_of_a_batch_adds() -> None:
    lengths = Lengths((1, 2), (10, 30), (0, 0), (9, 29), (10, 30), (True, True))
    assert lengths.padding(100, "delete", 2, packing=False) == pytest.approx(1 - 40 / 60)
    assert lengths.padding(100, "delete", 1, packing=False) == 0
    assert lengths.padding(20, "right", 2, packing=False) == pytest.approx(1 - 30 / 40)


def test_packing_puts_short_rows_together() -> None:
    rows = 1_000
    lengths = Lengths(tuple(range(rows)), (40, 60) * (rows // 2), (0,) * rows, (9,) * rows, (1,) * rows, (True,) * rows)
    assert lengths.packs(100, "delete") == 500
    assert lengths.padding(100, "delete", 4, packing=True) == pytest.approx(0)


def test_lengths_survive_being_written() -> None:
    assert Lengths.from_json(LENGTHS.as_json()) == LENGTHS
    with pytest.raises(ValueError):
        Lengths.from_json({**LENGTHS.as_json(), "ends": []})
