from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from gui.charts import MAX_POINTS, line_chart, meter, progress_bar, thinned
from services.settings import ASSETS

Points = list[tuple[float, float | None]]


def chart(points: Points, **options: object) -> str:
    return line_chart(points, **({"title": "Loss", "empty": "Nothing yet."} | options))


def drawn(html: str, name: str = "td-line") -> str:
    found = re.search(f'class="{name}" d="([^"]*)"', html)
    assert found is not None
    return found[1]


def value_labels(html: str) -> list[str]:
    found = re.search(r'<span class="td-values".*?</span></span>', html)
    assert found is not None
    return re.findall(r">([^<]+)</span>", found[0])


def step_labels(html: str) -> list[str]:
    return re.findall(r">([^<]+)</span>", html[html.index('<div class="td-steps"') :])


def test_no_points_give_the_sentence_that_says_what_will_be_there() -> None:
    html = chart([])
    assert "Nothing yet." in html
    assert "<svg" not in html


def test_points_without_one_number_give_the_sentence_and_the_notice() -> None:
    html = chart([(1, math.nan), (2, None)])
    assert "Nothing yet." in html
    assert "2 not a number" in html


def test_one_point_is_a_dot() -> None:
    html = chart([(5, 0.0)])
    assert drawn(html) == drawn(html, "td-end") == "M500 500h0"


def test_the_last_value_stands_beside_the_title_with_its_unit() -> None:
    assert '<span class="td-last">1.55k tokens/s</span>' in chart([(1, 3), (2, 1550)], unit="tokens/s")


def test_every_chart_is_well_formed_named_and_without_script() -> None:
    html = chart([(1, 2.0), (2, 1.0)], title='<b>"Loss" & more</b>', unit="<i>")
    root = ElementTree.fromstring(html)
    svg = root.find(".//svg")
    assert svg is not None
    assert svg.get("role") == "img"
    assert svg.get("width") == "100%"
    name = svg.get("aria-label") or ""
    assert name.startswith('<b>"Loss" & more</b>: 1 <i>')
    assert svg.findtext("title") == name
    assert root.find(".//b") is None
    assert "<script" not in html


def test_at_most_300_points_are_drawn_and_a_spike_survives() -> None:
    points: Points = [(i, 1.0 + (i % 7) * 0.01) for i in range(10_000)]
    points[6_789] = (6_789, 9.0)
    points[1_234] = (1_234, -3.0)
    kept = thinned(points)
    assert len(kept) <= MAX_POINTS
    assert {points[6_789], points[1_234], points[0], points[-1]} <= set(kept)
    assert kept == sorted(kept)
    assert len(re.findall(r"[ML]", drawn(chart(points)))) <= MAX_POINTS
    assert len(chart(points)) < 8_000


def test_what_is_no_number_is_a_gap_marked_and_counted() -> None:
    html = chart([(1, 1.0), (2, 2.0), (3, math.nan), (4, -math.inf), (5, None), (6, 2.0), (7, 1.0)])
    assert drawn(html).count("M") == 2
    assert drawn(html, "td-gap").count("M") == 3
    assert "⚠ 3 not a number" in html
    assert "⚠ 3 个非数值" in chart([(1, 1.0), (2, None), (3, None), (4, None)], lang="zh")


def test_a_chart_of_numbers_has_no_notice() -> None:
    assert "⚠" not in chart([(1, 1.0), (2, 2.0)])


def test_gaps_survive_the_thinning_within_the_limit_of_points() -> None:
    points: Points = [(i, None if i % 10 == 0 else float(i)) for i in range(1, 5_000)]
    html = chart(points)
    assert drawn(html).count("M") > 100
    assert len(re.findall(r"[ML]", drawn(html))) <= MAX_POINTS
    assert len(re.findall("M", drawn(html, "td-gap"))) <= MAX_POINTS


def test_steps_told_again_after_a_resume_replace_the_old_ones() -> None:
    first: Points = [(i, 5.0) for i in range(1, 61)]
    again: Points = [(i, 1.0) for i in range(51, 56)]
    xs = [int(x) for x in re.findall(r"[ML](\d+) ", drawn(chart(first + again)))]
    assert xs == sorted(xs)
    assert len(xs) == 55


@pytest.mark.parametrize(
    ("points", "values", "steps"),
    [
        ([(1, 4.6), (2000, 0.08)], ["0", "2.5", "5"], ["500", "1k", "1.5k", "2k"]),
        ([(0, 0.0), (100, 1e-4)], ["0", "5e-5", "1e-4"], ["0", "25", "50", "75", "100"]),
        ([(1, 0.081), (2, 0.084)], ["0.081", "0.082", "0.083", "0.084"], ["1", "2"]),
        ([(10, 1010.0), (30, 1190.0)], ["1k", "1.1k", "1.2k"], ["10", "15", "20", "25", "30"]),
        ([(1, -1.0), (3, 1.0)], ["-1", "0", "1"], ["1", "2", "3"]),
        ([(7, 0.0)], ["-0.5", "0", "0.5"], ["7"]),
    ],
)
def test_ticks_are_round_few_and_human(points: Points, values: list[str], steps: list[str]) -> None:
    html = chart(points)
    assert value_labels(html) == values
    assert step_labels(html) == steps


@pytest.mark.parametrize("scale", [1e-12, 3e-7, 1e-4, 0.02, 1.0, 77.0, 4e3, 5e6, 2e11, 3e37])
@pytest.mark.parametrize("offset", [0.0, 1.0, -2.5, 40.0])
@pytest.mark.parametrize("last", [1, 2, 3, 9, 24, 117, 4_321, 1_000_000])
def test_any_range_has_three_or_four_different_values_and_different_steps(
    scale: float, offset: float, last: int
) -> None:
    html = chart([(0, offset * scale), (last, (offset + 1.3) * scale)])
    values, steps = value_labels(html), step_labels(html)
    assert 3 <= len(values) <= 4
    assert len(set(values)) == len(values)
    assert 2 <= len(steps) <= 6
    assert len(set(steps)) == len(steps)


def test_a_flat_line_lies_in_the_middle_whatever_its_size() -> None:
    for value in (1e-9, 3.0, 1e299, -7e5):
        ys = [int(y) for y in re.findall(r"[ML]\d+ (-?\d+)", drawn(chart([(1, value), (2, value)])))]
        assert all(200 <= y <= 800 for y in ys)


def test_zero_is_kept_in_sight_when_asked() -> None:
    assert value_labels(chart([(1, 12.3), (2, 12.4)], from_zero=True))[0] == "0"


def test_progress_tells_the_reader_of_the_screen_how_far_it_is() -> None:
    html = progress_bar(0.153, "Step 122 of <800>")
    ElementTree.fromstring(html)
    assert 'role="progressbar"' in html
    assert 'aria-valuenow="15.3"' in html
    assert "width:15.3%" in html
    assert "Step 122 of &lt;800&gt;" in html


@pytest.mark.parametrize("fraction", [None, math.nan])
def test_progress_of_unknown_length_claims_no_number(fraction: float | None) -> None:
    html = progress_bar(fraction, "Loading")
    assert "aria-valuenow" not in html
    assert "td-busy" in html


@pytest.mark.parametrize(("fraction", "width"), [(-1.0, "0%"), (0.0, "0%"), (7.0, "100%"), (math.inf, None)])
def test_progress_never_leaves_its_bar(fraction: float, width: str | None) -> None:
    assert width is None or f"width:{width}" in progress_bar(fraction, "x")


@pytest.mark.parametrize(
    ("used", "total", "now", "level"),
    [
        (31, 40, "77.5", ""),
        (36, 40, "90", " td-high"),
        (39, 40, "97.5", " td-full"),
        (5, 0, "0", ""),
        (9, 3, "100", " td-full"),
    ],
)
def test_a_meter_tells_share_and_level(used: float, total: float, now: str, level: str) -> None:
    html = meter("GPU 0", used, total, "31 / 40 <GiB>")
    ElementTree.fromstring(html)
    assert f'class="td-meter{level}"' in html
    assert f'aria-valuenow="{now}"' in html
    assert 'aria-valuetext="31 / 40 &lt;GiB&gt;"' in html


def test_every_class_the_charts_use_has_its_style() -> None:
    css = (ASSETS / "charts.css").read_text()
    html = (
        chart([(1, 1.0), (2, None), (3, 2.0)]) + chart([]) + progress_bar(None, "x") + progress_bar(0.5, "x")
        + meter("a", 9, 10, "b") + meter("a", 10, 10, "b")
    )  # fmt: skip
    used = {name for names in re.findall(r'class="([^"]+)"', html) for name in names.split()}
    assert {name for name in used if f".{name}" not in css} <= {"td-progress"}
