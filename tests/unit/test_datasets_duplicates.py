"""Rows that say the same, exactly, nearly, or in another file."""

from __future__ import annotations

import random
from array import array

import pytest

from services.datasets import duplicates
from services.datasets.duplicates import repeated, shared, similar


@pytest.mark.parametrize("few", [100_000, 0])
def test_each_repeat_names_the_first_row_that_says_it(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(duplicates, "_FEW", few)
    assert repeated(array("Q", [7, 5, 7, 0, 9, 5, 7, 0])) == [(3, 1), (6, 2), (7, 1)]
    assert repeated(array("Q", [1, 2, 3])) == []
    assert repeated(array("Q")) == []


def test_rows_of_one_file_are_found_in_another() -> None:
    training, validation = array("Q", [1, 2, 3, 2]), array("Q", [2, 0, 3])
    assert shared(validation, training) == [(1, 2), (3, 3)]
    assert shared(training, validation) == [(2, 1), (3, 3), (4, 1)]


def words(number: int, seed: int) -> str:
    rng = random.Random(seed)
    return " ".join("".join(rng.choices("abcdefghijklmnop", k=6)) for _ in range(number))


def test_texts_that_differ_in_blanks_capitals_or_a_word_are_similar() -> None:
    text = words(60, 1)
    rows = [(1, text), (2, words(60, 2)), (3, text.upper().replace(" ", "  ")), (4, text + " more"), (9, words(60, 3))]
    assert similar(rows) == [(3, 1), (4, 1)]


def test_texts_that_share_half_are_not_similar() -> None:
    half = words(30, 4)
    assert similar([(1, half + words(30, 5)), (2, half + words(30, 6))]) == []


def test_many_equal_texts_do_not_take_their_square() -> None:
    assert len(similar([(number, "the same words again and again") for number in range(3_000)])) == 2_999


def test_chinese_and_empty_texts_are_compared_too() -> None:
    text = "今天天气很好，我们一起去公园散步，看看湖边的花是不是都开了。"
    assert similar([(1, text), (2, text + "！"), (3, ""), (4, "另一句完全不同的话，说的是数学。")]) == [(2, 1)]
