"""The rows of a data set: leaf through them, jump to one, search, and say what a column is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

import gradio as gr

from gui.charts import progress_bar
from gui.rows_view import page_html, place_text
from gui.watched import Watched
from gui.words import PRIVATE, SEVERAL, error_card, lang_of, t
from services.datasets.formats import Task
from services.datasets.pages import pages_of
from services.datasets.report import Report
from services.errors import TuneDeskError
from services.text import say

ROWS_A_PAGE = 10
COLUMNS_SHOWN = 8
ROLES = ("query", "response", "system", "messages", "history", "rejected_response", "label", "images", "tools")
"""What a column can be said to be: ms-swift's own names, as its ``--columns`` takes them."""
OF_SHOWN = {"user": "query", "assistant": "response", "text": "response"}
"""What a report calls a role -> ms-swift's name."""


@dataclass(frozen=True, eq=False)
class Place:
    """Which rows a session looks at. Compared by identity: Gradio hashes what a session keeps."""

    path: Path | None = None
    task: Task = "sft"
    start: int = 1
    columns: tuple[str, ...] = ()
    total: int | None = None
    """Rows, where the check has counted them."""
    marks: Mapping[int, str] = field(default_factory=dict)
    """Row -> the worst that the check found in it: blocked, warning or info."""


@dataclass(frozen=True)
class RowsPanel:
    """The table with its header of roles and the bar to move in it."""

    bar: gr.Row
    search: gr.Textbox
    number: gr.Textbox
    previous: gr.Button
    following: gr.Button
    info: gr.HTML
    header: gr.Row
    roles: tuple[gr.Dropdown, ...]
    rows: gr.HTML
    place: gr.State

    @property
    def page(self) -> list[Any]:
        """The outputs of ``shown``."""
        return [self.rows, self.info, self.place]

    @property
    def whole(self) -> list[Any]:
        """All that a check changes here."""
        return [*self.page, self.bar, self.header, *self.roles]


def rows_panel() -> RowsPanel:
    """Lay the panel out."""
    with gr.Row(elem_id="dataset-bar", visible=False) as bar:
        search = gr.Textbox("", show_label=False, placeholder=t("dataset.search"), max_lines=1, min_width=140,
                            elem_id="dataset-search")  # fmt: skip
        number = gr.Textbox("", show_label=False, placeholder=t("dataset.row_number"), max_lines=1, min_width=80,
                            elem_id="dataset-number")  # fmt: skip
        previous = gr.Button("‹", size="sm", min_width=36, elem_id="dataset-previous")
        following = gr.Button("›", size="sm", min_width=36, elem_id="dataset-next")
    info = gr.HTML(elem_id="dataset-place", padding=False)
    choices = [("–", ""), *((t(f"dataset.column.{role}"), role) for role in ROLES)]
    with gr.Row(elem_id="dataset-roles", visible=False) as header:
        roles = tuple(gr.Dropdown(choices, value="", visible=False, filterable=False, min_width=104)
                      for _ in range(COLUMNS_SHOWN))  # fmt: skip
    rows = gr.HTML(elem_id="dataset-preview", padding=False)
    return RowsPanel(bar, search, number, previous, following, info, header, roles, rows, gr.State(Place()))


def wire(panel: RowsPanel) -> None:
    """Connect the bar."""

    def on_move(step: int) -> Any:
        def on_click(place: Place, request: gr.Request) -> dict[Any, Any]:
            return shown(panel, place, max(1, place.start + step * ROWS_A_PAGE), lang_of(request))

        return on_click

    def on_number(text: str, place: Place, request: gr.Request) -> dict[Any, Any]:
        digits = text.strip().replace(",", "")
        return shown(panel, place, int(digits), lang_of(request)) if digits.isascii() and digits.isdigit() else {}

    def on_search(text: str, place: Place, request: gr.Request) -> Iterator[dict[Any, Any]]:
        yield from _search(panel, text, place, lang_of(request))

    panel.previous.click(on_move(-1), panel.place, panel.page, **PRIVATE)
    panel.following.click(on_move(1), panel.place, panel.page, **PRIVATE)
    panel.number.submit(on_number, [panel.number, panel.place], panel.page, **PRIVATE)
    panel.search.submit(on_search, [panel.search, panel.place], panel.page, **SEVERAL)


def shown(panel: RowsPanel, place: Place, start: int, lang: str) -> dict[Any, Any]:
    """Updates that show the rows from ``start`` on."""
    if place.path is None:
        return {panel.rows: "", panel.info: "", panel.place: place}
    try:
        page = pages_of(place.path, place.task).page(start, ROWS_A_PAGE)
        if not page.rows and page.total:  # behind the last row: show the last page
            start = max(1, page.total - ROWS_A_PAGE + 1)
            page = pages_of(place.path, place.task).page(start, ROWS_A_PAGE)
    except TuneDeskError as error:
        return {panel.rows: error_card(error, lang), panel.info: "", panel.place: place}
    info = f'<span class="td-muted td-small">{place_text(page, page.total or place.total, lang)}</span>'
    rows = page_html(page, place.marks, lang)
    return {panel.rows: rows, panel.info: info, panel.place: replace(place, start=start)}


def _search(panel: RowsPanel, text: str, place: Place, lang: str) -> Iterator[dict[Any, Any]]:
    """Go to the next row that holds ``text``, from the beginning again after the last one."""
    if place.path is None or not text.strip():
        return
    pages = pages_of(place.path, place.task)
    stop = Event()

    def first(progress: Any, stopped: Any) -> int | None:
        for start in (place.start + 1, 1):
            found = next(iter(pages.search(text, start, progress=progress, stop=stopped)), None)
            if found is not None:
                return found
        return None

    work: Watched[int | None] = Watched(first, stop)
    try:
        for part in work:
            yield {panel.info: progress_bar(part, say("dataset.searching", lang))}
    except TuneDeskError as error:
        yield {panel.info: error_card(error, lang)}
        return
    if work.result is None:
        yield {panel.info: f'<span class="td-muted td-small">{say("dataset.search_none", lang)}</span>'}
        return
    yield shown(panel, place, work.result, lang)


def reset(panel: RowsPanel, report: Report | None, lang: str) -> dict[Any, Any]:
    """Updates that show the first rows of what ``report`` is about, with its columns and what they are."""
    if report is None:
        hidden = {role: gr.update(visible=False) for role in panel.roles}
        return {**shown(panel, Place(), 1, lang), panel.bar: gr.update(visible=False),
                panel.header: gr.update(visible=False), **hidden}  # fmt: skip
    names = report.columns[:COLUMNS_SHOWN] if report.rows else ()
    tabular = bool(names) and "messages" not in report.mapping.values()
    total = report.rows if report.complete else None
    place = Place(report.path, report.task, 1, tuple(names), total, marks_of(report))  # type: ignore[arg-type]
    updates = shown(panel, place, 1, lang)
    updates |= {panel.bar: gr.update(visible=bool(report.rows)), panel.header: gr.update(visible=tabular)}
    for position, role in enumerate(panel.roles):
        name = names[position] if position < len(names) else ""
        meant = OF_SHOWN.get(report.mapping.get(name, ""), report.mapping.get(name, ""))
        updates[role] = gr.update(visible=tabular and bool(name), label=name, value=meant if meant in ROLES else "")
    return updates


def marks_of(report: Report) -> dict[int, str]:
    """Row -> the worst level of the findings that name it."""
    marks: dict[int, str] = {}
    for level in ("info", "warning", "blocked"):
        for finding in report.findings:
            if finding.level == level:
                marks |= dict.fromkeys(finding.rows, level)
    return marks


def columns_of(place: Place, roles: tuple[str, ...]) -> Mapping[str, str]:
    """Column -> ms-swift's name for it, as a person chose them."""
    return {name: role for name, role in zip(place.columns, roles, strict=False) if role}
