"""Rows of a file are shown as text, whatever they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from gui.dataset_view import findings_html, preview_html, verdict_html
from services.datasets.check import check


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_in_a_file_becomes_markup(tmp_path: Path, lang: str) -> None:
    path = tmp_path / "nasty.jsonl"
    path.write_text(
        '{"messages": [{"role": "user", "content": "<script>x</script>"}, {"role": "assistant", "content": ""}]}\n'
        '{"<b>odd</b>": "<img src=x>"}\n',
        encoding="utf-8",
    )
    report = check(path)
    page = verdict_html(report, lang) + findings_html(report, lang) + preview_html(report, lang)
    assert "<script" not in page and "<img" not in page and "<b>odd" not in page
    assert "&lt;script&gt;" in page


def test_a_long_turn_is_shown_short_with_all_of_it_a_click_away(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("question,answer\nq," + "word " * 300 + "\n", encoding="utf-8")
    page = preview_html(check(path), "en")
    assert '<details class="td-said td-long">' in page and "word " * 300 in page


def test_the_mapping_of_the_columns_is_told(tmp_path: Path) -> None:
    path = tmp_path / "qa.csv"
    path.write_text("question,answer\na,b\n", encoding="utf-8")
    assert "question → User, answer → Assistant" in verdict_html(check(path), "en")
