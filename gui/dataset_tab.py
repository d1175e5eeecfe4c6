"""The Dataset tab: choose a data set, see whether it can be trained on and what its first rows look like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import gradio as gr

from gui.charts import progress_bar
from gui.dataset_view import findings_html, preview_html, verdict_html
from gui.form import dataset_choices
from gui.words import PRIVATE, card, error_card, lang_of, note, t
from services.bootstrap import Services
from services.datasets.report import Report
from services.datasets.review import Step, review
from services.datasets.sources import parse_source
from services.datasets.uploads import keep_upload
from services.errors import TuneDeskError
from services.specs import SAMPLE
from services.text import say


@dataclass
class Checking:
    """The check under way: of what, how to end it, and whether its first rows are on the page."""

    text: str
    stop: Event
    shown: bool = False


@dataclass(frozen=True)
class DatasetTab:
    """What the window connects to other rooms: ``use``, and ``source``, whose value a spec's dataset takes."""

    source: gr.Dropdown
    upload: gr.File
    check: gr.Button
    cancel: gr.Button
    verdict: gr.HTML
    findings: gr.HTML
    use: gr.Button
    preview: gr.HTML
    checking: gr.State

    @property
    def page(self) -> list[Any]:
        """The outputs of a check."""
        return [self.check, self.cancel, self.verdict, self.findings, self.use, self.preview, self.checking]


def dataset_tab(services: Services) -> DatasetTab:
    """Lay out the tab and connect it; the sample is checked at once."""
    with gr.Row(elem_id="dataset"):
        with gr.Column(scale=2, min_width=320, elem_id="dataset-form"):
            with gr.Group():
                source = gr.Dropdown(
                    dataset_choices(services), value=SAMPLE, label=t("dataset.source"), info=t("dataset.source_info"),
                    allow_custom_value=True, elem_id="dataset-source",
                )  # fmt: skip
            # no file_types: a file of the wrong kind gets our own answer, which says what to do
            upload = gr.File(label=t("dataset.upload"), type="filepath", height=96, elem_id="dataset-upload")
            with gr.Row(elem_id="dataset-check-row"):
                use = gr.Button(t("dataset.use"), variant="primary", min_width=120, elem_id="dataset-use")
                check = gr.Button(t("dataset.check"), min_width=90, elem_id="dataset-check")
                cancel = gr.Button(t("dataset.cancel"), variant="stop", min_width=90, visible=False,
                                   elem_id="dataset-cancel")  # fmt: skip
            verdict = gr.HTML(elem_id="dataset-verdict", padding=False)
            findings = gr.HTML(elem_id="dataset-findings", padding=False)
        with gr.Column(scale=3, min_width=360, elem_id="dataset-rows"):
            preview = gr.HTML(elem_id="dataset-preview", padding=False)
    tab = DatasetTab(source, upload, check, cancel, verdict, findings, use, preview, gr.State(None))
    _wire(tab, services)
    return tab


def _wire(tab: DatasetTab, services: Services) -> None:
    def on_check(text: str | None, request: gr.Request) -> Iterator[dict[Any, Any]]:
        yield from _check(tab, services, text or "", lang_of(request))

    def on_change(text: str | None, checking: Checking | None) -> None:
        if checking is not None and checking.text != text:  # another data set was chosen meanwhile
            checking.stop.set()

    def on_cancel(checking: Checking | None) -> None:
        if checking is not None:
            checking.stop.set()

    def on_upload(path: str | None, request: gr.Request) -> dict[Any, Any]:
        if path is None:
            return {tab.upload: None}
        try:
            kept = keep_upload(Path(path), Path(path).name, services.settings)
        except TuneDeskError as error:
            return {tab.upload: None, tab.verdict: error_card(error, lang_of(request))}
        return {tab.upload: None, tab.source: gr.Dropdown(choices=dataset_choices(services), value=str(kept))}

    several = {**PRIVATE, "concurrency_limit": None, "trigger_mode": "always_last"}
    gr.on(None, on_check, tab.source, tab.page, **several)  # when the page loads and whenever the source changes
    tab.check.click(on_check, tab.source, tab.page, **several)
    tab.source.change(on_change, [tab.source, tab.checking], None, **PRIVATE)
    tab.cancel.click(on_cancel, tab.checking, None, **PRIVATE)
    tab.source.focus(lambda: gr.Dropdown(choices=dataset_choices(services)), None, tab.source, **PRIVATE)
    tab.upload.upload(on_upload, tab.upload, [tab.upload, tab.source, tab.verdict], **PRIVATE)


def _check(tab: DatasetTab, services: Services, text: str, lang: str) -> Iterator[dict[Any, Any]]:
    """Look at what ``text`` names: progress while it is read, then the verdict, or a sentence why there is none."""
    if not text.strip():
        yield _page(tab, "", note("dataset.empty", lang), usable=False)
        return
    checking = Checking(text, Event())
    try:
        source = parse_source(text, services.settings)
        if source.kind == "hub":
            yield _page(tab, card("note", say("dataset.hub", lang, id=text)), note("dataset.empty", lang), usable=True)
            return
        for step in review(source, services.settings, checking.stop):
            yield _done(tab, step.report, lang) if step.done else _under_way(tab, step, checking, lang)
    except TuneDeskError as error:
        yield _page(tab, error_card(error, lang), note("dataset.empty", lang), usable=False)


def _page(tab: DatasetTab, verdict: str, preview: str, findings: str = "", usable: bool = True) -> dict[Any, Any]:
    return {
        tab.verdict: verdict, tab.findings: findings, tab.preview: preview, tab.checking: None,
        tab.use: gr.Button(interactive=usable), tab.check: gr.Button(visible=True),
        tab.cancel: gr.Button(visible=False),
    }  # fmt: skip


def _done(tab: DatasetTab, report: Report, lang: str) -> dict[Any, Any]:
    usable = report.verdict != "blocked"
    return _page(tab, verdict_html(report, lang), preview_html(report, lang), findings_html(report, lang), usable)


def _under_way(tab: DatasetTab, step: Step, checking: Checking, lang: str) -> dict[Any, Any]:
    seen = {} if checking.shown else {tab.preview: preview_html(step.report, lang), tab.checking: checking}
    checking.shown = True
    return seen | {
        tab.verdict: progress_bar(step.part, say("dataset.checking", lang, percent=round(step.part * 100))),
        tab.findings: "", tab.use: gr.Button(interactive=False), tab.check: gr.Button(visible=False),
        tab.cancel: gr.Button(visible=True),
    }  # fmt: skip
