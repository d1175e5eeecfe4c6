"""The Dataset tab: choose a data set, see whether it can be trained on, mend it, and look at its rows and tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import gradio as gr

from gui import dataset_find, dataset_rows
from gui.charts import progress_bar
from gui.choices import dataset_choices, model_choices
from gui.dataset_find import FindPanel
from gui.dataset_rows import RowsPanel
from gui.dataset_view import findings_html, repairs, verdict_html
from gui.fields import TASKS
from gui.sidebar import selected
from gui.tokens_view import tokens_html
from gui.watched import Watched
from gui.words import PRIVATE, SEVERAL, card, error_card, lang_of, note, t
from services.bootstrap import Services
from services.datasets.audit import Audit
from services.datasets.check import look
from services.datasets.mappings import recall, remember
from services.datasets.mend import Mended, mend
from services.datasets.report import Report
from services.datasets.review import Step, review
from services.datasets.sources import Source, parse_source
from services.datasets.uploads import keep_upload
from services.errors import Refused, TuneDeskError
from services.specs import SAMPLE, STARTER, AuditSpec
from services.text import say

USUAL_BATCH = 16
"""Rows a step, for the figures about tokens."""


@dataclass
class Checking:
    """The check under way: of what, how to end it, and the stage that is on the page."""

    text: str
    stop: Event
    shown: str = ""


@dataclass(frozen=True)
class Chosen:
    """What a check is asked: the source as typed, the task, the model and the length."""

    text: str
    task: str
    model: str
    max_length: int | None
    columns: dict[str, str]


@dataclass(frozen=True)
class DatasetTab:
    """What the window connects to other rooms: ``use``, and ``source``, whose value a spec's dataset takes."""

    source: gr.Dropdown
    upload: gr.File
    task: gr.Dropdown
    model: gr.Dropdown
    max_length: gr.Textbox
    check: gr.Button
    cancel: gr.Button
    verdict: gr.HTML
    findings: gr.HTML
    mend_box: gr.Column
    fixes: gr.CheckboxGroup
    mend: gr.Button
    mended: gr.HTML
    use: gr.Button
    find: FindPanel
    rows: RowsPanel
    tokens: gr.HTML
    audit_all: gr.Button
    checking: gr.State
    columns: gr.State
    """What a person said the columns are; empty: as found."""

    @property
    def asked(self) -> list[Any]:
        """The inputs of a check."""
        return [self.source, self.task, self.model, self.max_length, self.rows.place, *self.rows.roles]

    @property
    def page(self) -> list[Any]:
        """The outputs of a check."""
        return [self.check, self.cancel, self.verdict, self.findings, self.use, self.checking, self.columns,
                self.mend_box, self.fixes, self.tokens, self.audit_all, self.find.hub, *self.rows.whole]  # fmt: skip


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
            upload = gr.File(label=t("dataset.upload"), type="filepath", height=96, file_count="multiple",
                             elem_id="dataset-upload")  # fmt: skip
            find = dataset_find.find_panel()
            with gr.Row(elem_id="dataset-how"):
                task = gr.Dropdown([(t(f"training.task.{one}"), one) for one in TASKS], value="sft", filterable=False,
                                   label=t("training.task"), elem_id="dataset-task")  # fmt: skip
                model = gr.Dropdown(model_choices(services), value=STARTER, label=t("dataset.model"),
                                    allow_custom_value=True, min_width=120, elem_id="dataset-model")  # fmt: skip
                max_length = gr.Textbox("", label=t("field.max_length"), placeholder="512", max_lines=1, min_width=80,
                                        elem_id="dataset-max-length")  # fmt: skip
            with gr.Row(elem_id="dataset-check-row"):
                use = gr.Button(t("dataset.use"), variant="primary", min_width=120, elem_id="dataset-use")
                check = gr.Button(t("dataset.check"), min_width=90, elem_id="dataset-check")
                cancel = gr.Button(t("dataset.cancel"), variant="stop", min_width=90, visible=False,
                                   elem_id="dataset-cancel")  # fmt: skip
            verdict = gr.HTML(elem_id="dataset-verdict", padding=False)
            with gr.Column(visible=False, elem_id="dataset-mend-box") as mend_box:
                fixes = gr.CheckboxGroup([], label=t("dataset.repairs"), elem_id="dataset-fixes")
                mend_button = gr.Button(t("dataset.mend"), elem_id="dataset-mend")
                mended = gr.HTML(elem_id="dataset-mended", padding=False)
            findings = gr.HTML(elem_id="dataset-findings", padding=False)
        with gr.Column(scale=3, min_width=360, elem_id="dataset-rows"):
            with gr.Tabs(elem_id="dataset-looks"):
                with gr.Tab(t("dataset.rows_tab"), id="rows"):
                    rows = dataset_rows.rows_panel()
                with gr.Tab(t("dataset.tokens_tab"), id="tokens"):
                    tokens = gr.HTML(elem_id="dataset-tokens", padding=False)
                    audit_all = gr.Button(t("dataset.audit_all"), size="sm", visible=False, elem_id="dataset-audit")
    tab = DatasetTab(source, upload, task, model, max_length, check, cancel, verdict, findings, mend_box, fixes,
                     mend_button, mended, use, find, rows, tokens, audit_all, gr.State(None), gr.State({}))  # fmt: skip
    _wire(tab, services)
    _wire_mend(tab, services)
    dataset_rows.wire(rows)
    return tab


def _looking(tab: DatasetTab, services: Services, mapped: bool = False) -> Callable[..., Iterator[dict[Any, Any]]]:
    """The callback that checks what is chosen; ``mapped``: with what the header says of the columns."""

    def on_look(given: dict[Any, Any], request: gr.Request) -> Iterator[dict[Any, Any]]:
        yield from _check(tab, services, _chosen(tab, given, mapped), lang_of(request))

    return on_look


def _wire(tab: DatasetTab, services: Services) -> None:
    def on_change(text: str | None, under_way: Checking | None) -> None:
        if under_way is not None and under_way.text != text:  # another data set was chosen meanwhile
            under_way.stop.set()

    def on_cancel(under_way: Checking | None) -> None:
        if under_way is not None:
            under_way.stop.set()

    def on_upload(paths: list[str] | None, request: gr.Request) -> dict[Any, Any]:
        kept = None
        try:
            for path in paths or ():
                kept = keep_upload(Path(path), Path(path).name, services.settings)
        except TuneDeskError as error:
            return {tab.upload: None, tab.verdict: error_card(error, lang_of(request))}
        if kept is None:
            return {tab.upload: None}
        return {tab.upload: None, tab.source: gr.Dropdown(choices=dataset_choices(services), value=str(kept))}

    inputs = set(tab.asked)
    gr.on([role.input for role in tab.rows.roles], _looking(tab, services, mapped=True), inputs, tab.page, **SEVERAL)
    tab.source.change(on_change, [tab.source, tab.checking], None, **PRIVATE)
    tab.cancel.click(on_cancel, tab.checking, None, **PRIVATE)
    tab.source.focus(lambda: gr.Dropdown(choices=dataset_choices(services)), None, tab.source, **PRIVATE)
    tab.upload.upload(on_upload, tab.upload, [tab.upload, tab.source, tab.verdict], **PRIVATE)


def _wire_mend(tab: DatasetTab, services: Services) -> None:
    def on_mend(given: dict[Any, Any], request: gr.Request) -> Iterator[dict[Any, Any]]:
        yield from _mend(tab, services, given, lang_of(request))

    tab.mend.click(on_mend, {tab.source, tab.task, tab.fixes}, [tab.mended, tab.mend, tab.source],
                   **{**SEVERAL, "trigger_mode": "once"})  # fmt: skip


def wire(tab: DatasetTab, services: Services, runs: gr.Radio, app: gr.Blocks) -> None:
    """Check the sample when the page opens; connect what starts a run: a download, counting the tokens of all rows."""
    # by name: without triggers, whatever the check itself changes would start it again; in one, so that none overtakes
    asked = [app.load, tab.source.change, tab.task.input, tab.model.input, tab.max_length.submit, tab.check.click]
    gr.on(asked, _looking(tab, services), set(tab.asked), tab.page, **SEVERAL)

    def on_audit(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        chosen, lang = _chosen(tab, given, mapped=False), lang_of(request)
        try:
            spec = AuditSpec(dataset=chosen.text, model=chosen.model, task=chosen.task)  # type: ignore[arg-type]
            record = services.audits.start(spec)
        except TuneDeskError as error:
            return {tab.verdict: error_card(error, lang)}
        return {runs: selected(services, record.id, lang)}

    tab.audit_all.click(on_audit, set(tab.asked), [tab.verdict, runs], **PRIVATE)
    dataset_find.wire(tab.find, tab.source, services, runs, selected)


def _chosen(tab: DatasetTab, given: dict[Any, Any], mapped: bool) -> Chosen:
    digits = str(given.get(tab.max_length) or "").strip()
    roles = tuple(str(given.get(role) or "") for role in tab.rows.roles)
    place = given.get(tab.rows.place)
    return Chosen(
        text=str(given.get(tab.source) or ""),
        task=str(given.get(tab.task) or "sft"),
        model=str(given.get(tab.model) or STARTER),
        max_length=int(digits) if digits.isascii() and digits.isdigit() and int(digits) > 0 else None,
        columns=dict(dataset_rows.columns_of(place, roles)) if mapped and place is not None else {},
    )


def _check(tab: DatasetTab, services: Services, chosen: Chosen, lang: str) -> Iterator[dict[Any, Any]]:
    """Look at what was chosen: progress while it is read, then the verdict, or a sentence why there is none."""
    if not chosen.text.strip():
        yield _nothing(tab, note("dataset.empty", lang), lang)
        return
    checking = Checking(chosen.text, Event())
    try:
        source = parse_source(chosen.text, services.settings)
        if source.path is None and source.kind == "hub":
            yield _hub(tab, services, chosen, lang)
            return
        chosen = _settled(services, source, chosen)
        limit = chosen.max_length or _usual_length(services, chosen.model)
        for step in _steps(services, source, chosen, checking.stop):
            page = _done(tab, step, limit, lang) if step.done else _under_way(tab, step, checking, lang)
            yield {**page, tab.columns: chosen.columns}
    except TuneDeskError as error:
        yield _nothing(tab, error_card(error, lang), lang)


def _settled(services: Services, source: Source, chosen: Chosen) -> Chosen:
    """``chosen`` with the meaning of the columns that a person gave now (kept), or gave to such columns before."""
    if source.path is None:
        return chosen
    names = look(source.path).columns
    if chosen.columns:
        remember(names, chosen.columns, services.settings)
        return chosen
    return replace(chosen, columns=dict(recall(names, services.settings) or {}))


def _steps(services: Services, source: Source, chosen: Chosen, stop: Event) -> Iterator[Step]:
    finish = services.audits.finish(chosen.model, max_length=chosen.max_length)
    return review(
        source, services.settings, stop, task=chosen.task, columns=chosen.columns or None,  # type: ignore[arg-type]
        template=services.audits.template_of(chosen.model), finish=finish,
    )  # fmt: skip


def _usual_length(services: Services, model: str) -> int:
    try:
        return services.audits.default_max_length(services.models.find(model))
    except Refused:
        return 2048


def _page(tab: DatasetTab, verdict: str, usable: bool, findings: str = "") -> dict[Any, Any]:
    return {
        tab.verdict: verdict, tab.findings: findings, tab.checking: None, tab.use: gr.Button(interactive=usable),
        tab.check: gr.Button(visible=True), tab.cancel: gr.Button(visible=False),
        tab.find.hub: gr.update(visible=False), tab.mend_box: gr.update(visible=False),
        tab.audit_all: gr.update(visible=False), tab.tokens: "",
    }  # fmt: skip


def _nothing(tab: DatasetTab, verdict: str, lang: str) -> dict[Any, Any]:
    return {**_page(tab, verdict, usable=False), **dataset_rows.reset(tab.rows, None, lang)}


def _hub(tab: DatasetTab, services: Services, chosen: Chosen, lang: str) -> dict[Any, Any]:
    """A hub's data set that is not here: it can be used as it is, or fetched and looked at."""
    torn = services.downloads.find(chosen.text) is not None
    text = say("dataset.hub_incomplete" if torn else "dataset.hub", lang, id=chosen.text)
    page = _page(tab, card("warning" if torn else "note", text), usable=not torn)
    return {**page, **dataset_rows.reset(tab.rows, None, lang), tab.find.hub: gr.update(visible=True)}


def _done(tab: DatasetTab, step: Step, limit: int, lang: str) -> dict[Any, Any]:
    report = step.report
    page = _page(tab, verdict_html(report, lang), report.verdict != "blocked", findings_html(report, lang))
    page |= {
        tab.tokens: tokens_html(step.audit, limit, USUAL_BATCH, lang),
        tab.audit_all: gr.update(visible=_is_sample(step.audit)),
        **_offered(tab, report, lang),
    }
    return {**page, **dataset_rows.reset(tab.rows, report, lang)}


def _offered(tab: DatasetTab, report: Report, lang: str) -> dict[Any, Any]:
    offered = repairs(report, lang)
    return {
        tab.mend_box: gr.update(visible=bool(offered)),
        tab.fixes: gr.update(choices=offered, value=[fix for _, fix in offered]),
    }


def _is_sample(audit: Audit | None) -> bool:
    return audit is not None and not audit.complete


def _under_way(tab: DatasetTab, step: Step, checking: Checking, lang: str) -> dict[Any, Any]:
    """What is known so far: first the rows, then what reading them found, while their tokens are counted."""
    counting = step.stage == "audit"
    label = say("dataset.counting" if counting else "dataset.checking", lang, percent=round(step.part * 100))
    bar = progress_bar(step.part, label)
    page = {
        tab.verdict: verdict_html(step.report, lang) + bar if counting else bar,
        tab.check: gr.Button(visible=False), tab.cancel: gr.Button(visible=True),
    }  # fmt: skip
    if step.stage == checking.shown:
        return page
    page |= {tab.findings: findings_html(step.report, lang) if counting else "", tab.checking: checking}
    if counting:
        page |= _offered(tab, step.report, lang)
    usable = counting and step.report.verdict != "blocked"
    checking.shown = step.stage
    return {**page, tab.use: gr.Button(interactive=usable), **dataset_rows.reset(tab.rows, step.report, lang)}


def _mend(tab: DatasetTab, services: Services, given: dict[Any, Any], lang: str) -> Iterator[dict[Any, Any]]:
    """Write the mended copy, and look at it."""
    fixes: list[str] = given.get(tab.fixes) or []
    task: Any = given.get(tab.task) or "sft"
    if not fixes:
        yield {tab.mended: card("note", say("dataset.mend_none", lang))}
        return
    try:
        source = parse_source(str(given.get(tab.source) or ""), services.settings)
        if source.path is None:
            return
        path, folder = source.path, services.settings.datasets
        folder.mkdir(parents=True, exist_ok=True)
        meant = recall(look(path).columns, services.settings)
        work: Watched[Mended] = Watched(
            lambda progress, stop: mend(
                path, fixes, folder, task=task, columns=meant, progress=progress, stop=stop
            ), Event(),
        )  # fmt: skip
        for part in work:
            yield {tab.mended: progress_bar(part, say("dataset.mending", lang)), tab.mend: gr.Button(interactive=False)}
    except TuneDeskError as error:
        yield {tab.mended: error_card(error, lang), tab.mend: gr.Button(interactive=True)}
        return
    assert work.result is not None
    made = work.result
    said = say("dataset.mended", lang, path=str(made.path), rows=made.rows_written, dropped=made.rows_dropped)
    yield {
        tab.mended: card("ok", said), tab.mend: gr.Button(interactive=True),
        tab.source: gr.Dropdown(choices=dataset_choices(services), value=str(made.path)),
    }  # fmt: skip

