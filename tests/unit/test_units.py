from __future__ import annotations

import math

import pytest

from services.units import human_bytes, human_count, human_number, human_seconds


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (12 * 1024**3, "12.0 GiB"),
        (23.5 * 1024**3, "23.5 GiB"),
        (3 * 1024**4, "3.0 TiB"),
        (5000 * 1024**5, "5000.0 PiB"),
    ],
)
def test_bytes_have_one_decimal(n: float, text: str) -> None:
    assert human_bytes(n) == text


@pytest.mark.parametrize(
    ("s", "english", "chinese"),
    [
        (0, "0 s", "0 秒"),
        (0.42, "0.4 s", "0.4 秒"),
        (9.97, "10 s", "10 秒"),
        (59.6, "1 min 0 s", "1 分 0 秒"),
        (380, "6 min 20 s", "6 分 20 秒"),
        (3599.7, "1 h 0 min", "1 小时 0 分"),
        (7510, "2 h 5 min", "2 小时 5 分"),
        (86399, "1 d 0 h", "1 天 0 小时"),
        (3 * 86400 + 4 * 3600, "3 d 4 h", "3 天 4 小时"),
        (-5, "0 s", "0 秒"),
        (math.inf, "–", "–"),
        (math.nan, "–", "–"),
    ],
)
def test_seconds_are_told_by_their_largest_parts(s: float, english: str, chinese: str) -> None:
    assert human_seconds(s) == english
    assert human_seconds(s, "zh") == chinese


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1234, "1.2k"),
        (99_949, "99.9k"),
        (135_000_000, "135M"),
        (999_950, "1M"),
        (7_600_000_000, "7.6B"),
        (-1500, "-1.5k"),
        (0.5, "0.5"),
    ],
)
def test_counts_are_short(n: float, text: str) -> None:
    assert human_count(n) == text


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0, "0"),
        (1e-4, "1e-4"),
        (2.5e-5, "2.5e-5"),
        (0.08, "0.08"),
        (0.08342, "0.0834"),
        (0.00123, "0.00123"),
        (4.6, "4.6"),
        (4.6127, "4.61"),
        (120, "120"),
        (999.7, "1k"),
        (1234, "1.23k"),
        (3.2e38, "3.2e38"),
        (-0.5, "-0.5"),
        (math.nan, "NaN"),
        (-math.inf, "-∞"),
    ],
)
def test_measured_values_have_three_digits(x: float, text: str) -> None:
    assert human_number(x) == text
