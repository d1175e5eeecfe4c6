"""A page of rows: the conversation ms-swift makes of each, beside the record as it stands in the file."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from gui.dataset_view import text_html, turn_html
from services.datasets.pages import Page, PageRow
from services.text import say

TURNS_SHOWN = 12


def page_html(page: Page, marks: Mapping[int, str], lang: str) -> str:
    """The rows of a page, each with its mark (blocked, warning, info); everything in them is shown as text."""
    rows = "".join(_row(row, marks.get(row.number, ""), lang) for row in page.rows)
    name = escape(say("dataset.preview", lang))
    return f'<div class="td-rows" role="region" tabindex="0" aria-label="{name}">{rows}</div>'


def _row(row: PageRow, mark: str, lang: str) -> str:
    name = escape(say("dataset.row", lang, row=row.number))
    kind = f"td-row td-{mark}" if mark else "td-row"
    if mark:
        name += f' <span class="td-level">{escape(say(f"dataset.level.{mark}", lang))}</span>'
    label = escape(say("dataset.raw", lang))
    raw = f'<details class="td-raw"><summary>{label}</summary><pre>{escape(row.raw)}</pre></details>'
    if row.fault:
        sentence = escape(say(f"dataset.finding.{row.fault}", lang, **_gaps(row)))
        return f'<article class="td-row td-blocked"><header>{name}</header><p>{sentence}</p>{raw}</article>'
    if not row.turns:
        said = f'<div class="td-turn"><span class="td-role"></span>{text_html(row.raw, lang)}</div>'
        return f'<article class="{kind}"><header>{name}</header>{said}</article>'
    said = "".join(turn_html(turn, lang) for turn in row.turns[:TURNS_SHOWN])
    left = len(row.turns) - TURNS_SHOWN
    if left > 0:
        said += f'<div class="td-turn td-muted">{escape(say("dataset.more_turns", lang, count=left))}</div>'
    return f'<article class="{kind}"><header>{name}</header>{said}{raw}</article>'


def _gaps(row: PageRow) -> dict[str, object]:
    line = row.values.get("line", row.number)
    return {"count": 1, "rows": row.number, "lines": line, "line": line, "example": "", "total": 1, **row.values}


def place_text(page: Page, total: int | None, lang: str) -> str:
    """Which rows these are, of how many where that is known."""
    if not page.rows:
        return say("dataset.page_none", lang)
    last = page.rows[-1].number
    if total is None:
        return say("dataset.page_open", lang, first=page.rows[0].number, last=last)
    return say("dataset.page", lang, first=page.rows[0].number, last=last, total=f"{total:,}")
