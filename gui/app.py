"""The window: a sidebar with the machine and the runs, four tabs, and the run that is selected."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from gui import dataset_tab as datasets
from gui import export_tab as exports
from gui import run_view as views
from gui import training_tab as trainings
from gui.chat_tab import chat_tab
from gui.choices import disable_script
from gui.form import form_values
from gui.run_view import Shown
from gui.share import share_panel
from gui.sidebar import Sidebar, first_run, refresh_sidebar
from gui.words import PRIVATE, error_card, lang_of, t
from services.bootstrap import Services
from services.chat.loaded import offers
from services.errors import TuneDeskError

TICK_S = 1.0
FOLD_SIDEBAR = """() => {
  if (window.innerWidth < 700) document.querySelector("#sidebar.open .toggle-button")?.click();
}"""
"""On a phone it would cover the page."""
EXPECT_SHOWN = "() => { window.tunedeskStarted = Date.now(); }"
SHOW_RUN = """() => {
  const header = document.querySelector("#run-header");
  if (header && Date.now() - (window.tunedeskStarted || 0) < 15000) {
    const top = header.getBoundingClientRect().top;
    if (top < 0 || top > window.innerHeight - 80) header.scrollIntoView({block: "start"});
  }
}"""
"""Where the panel stands below the form, a run that was started just now is brought into sight."""


def build_app(services: Services) -> gr.Blocks:
    """The whole window; ``gui.__main__`` launches it."""
    app: gr.Blocks
    with gr.Blocks(title="TuneDesk", fill_width=True, analytics_enabled=False, delete_cache=(3600, 86_400)) as app:
        tick = gr.Timer(TICK_S)
        chat_tick = gr.Timer(TICK_S, active=False)  # only while its tab is open: each tick costs browser and window
        gr.HTML(t("window.away"), elem_id="away", padding=False)  # shown by assets/away.js
        with gr.Sidebar(width=290, elem_id="sidebar"):
            gr.HTML('<div class="td-brand">TuneDesk</div>')
            machine = gr.HTML(elem_id="machine")
            runs = gr.Radio([], label=t("window.runs"), elem_id="runs")
            no_runs = gr.HTML(elem_id="no-runs", padding=False)
            share_panel(services)
        with gr.Row(elem_id="desk", equal_height=False):
            with gr.Column(scale=6, min_width=420, elem_id="choices"):
                with gr.Tabs(selected="training", elem_id="tabs") as tabs:
                    with gr.Tab(t("window.dataset"), id="dataset"):
                        dataset = datasets.dataset_tab(services)
                    with gr.Tab(t("window.training"), id="training"):
                        training = trainings.training_tab(services)
                    with gr.Tab(t("window.export"), id="export"):
                        export = exports.export_tab(services)
                    with gr.Tab(t("window.chat"), id="chat"):
                        chat = chat_tab(services, chat_tick)
            with gr.Column(scale=5, min_width=360, elem_id="run-column") as run_column:
                view = views.run_view()
        sidebar = gr.State(Sidebar())

        def on_tick(run_id: str | None, shown: Shown, seen: Sidebar, request: gr.Request) -> list[Any]:
            lang = lang_of(request)
            return [*refresh_sidebar(services, seen, run_id, lang), *views.refresh(services, run_id, shown, lang)]

        def on_load(saved: dict[str, Any] | None, request: gr.Request) -> dict[Any, Any]:
            lang = lang_of(request)
            chosen = first_run(services.runs.list())
            machine_html, radio, empty, seen = refresh_sidebar(services, Sidebar(), chosen, lang)
            panel = dict(zip(view.refreshed, views.refresh(services, chosen, Shown(), lang), strict=True))
            form = trainings.restore(training, services, saved, lang)
            return {machine: machine_html, runs: radio, no_runs: empty, sidebar: seen, **panel, **form}

        def on_select(run_id: str | None, shown: Shown, request: gr.Request) -> list[Any]:
            return [*views.refresh(services, run_id, shown, lang_of(request)), ""]

        listed = [machine, runs, no_runs, sidebar]
        form_parts = [*training.filled, *training.form.reasons, training.presets.chosen]
        tick.tick(on_tick, [runs, view.shown, sidebar], [*listed, *view.refreshed], **PRIVATE)
        app.load(on_load, training.saved, [*listed, *view.refreshed, *form_parts], **PRIVATE)
        app.load(None, None, None, js=disable_script(services))
        app.load(None, None, None, js=FOLD_SIDEBAR)
        gr.on([training.start.click, export.merge.click], None, None, None, js=EXPECT_SHOWN)
        runs.change(None, None, None, js=SHOW_RUN)
        runs.change(on_select, [runs, view.shown], [*view.refreshed, view.message], **PRIVATE)
        trainings.wire(training, services, runs)
        datasets.wire(dataset, services, runs, app)
        exports.wire(export, services, runs)
        views.wire(view, services, runs)

        def on_merge(run_id: str | None) -> tuple[Any, Any, Any]:
            choices = exports.adapter_choices(services)
            newest = next((value for _, value in choices if value.startswith(f"{run_id}:")), None)
            return gr.Tabs(selected="export"), gr.Dropdown(choices=choices, value=newest), gr.Column(visible=True)

        def on_reuse(run_id: str | None, request: gr.Request) -> dict[Any, Any]:
            lang = lang_of(request)
            try:
                spec = services.trainings.spec_of(run_id or "")
                filled = trainings.fill(training, services, form_values(spec), lang)
            except TuneDeskError as error:
                return {view.message: error_card(error, lang)}
            shown = {tabs: gr.Tabs(selected="training"), run_column: gr.Column(visible=True), view.message: ""}
            return {**filled, **shown, training.parent: run_id}

        def on_chat(run_id: str | None) -> tuple[Any, ...]:
            model = chat_reference(services, run_id)
            return gr.Tabs(selected="chat"), model, gr.Column(visible=False), gr.Timer(active=True)

        def on_use(source: str | None, columns: dict[str, str], task: str) -> tuple[Any, ...]:
            extra = f"--columns '{json.dumps(columns, ensure_ascii=False)}'" if columns else gr.skip()
            return gr.Tabs(selected="training"), [source] if source else gr.skip(), task, extra, gr.Column(visible=True)

        def on_tab(event: gr.SelectData, request: gr.Request) -> tuple[Any, Any, Any]:
            hint = exports.hint(services, lang_of(request)) if event.index == 2 else gr.skip()
            return gr.Column(visible=event.index in (1, 2)), gr.Timer(active=event.index == 3), hint

        tabs.select(on_tab, None, [run_column, chat_tick, export.message], **PRIVATE)
        view.merge.click(on_merge, runs, [tabs, export.adapter, run_column], **PRIVATE)
        view.reuse.click(on_reuse, runs, [*training.filled, training.parent, tabs, run_column, view.message], **PRIVATE)
        view.chat.click(on_chat, runs, [tabs, chat.model, run_column, chat_tick], **PRIVATE)
        used = [tabs, *(training.form[name] for name in ("dataset", "task", "extra")), run_column]
        dataset.use.click(on_use, [dataset.source, dataset.columns, dataset.task], used, **PRIVATE)
    return app


def chat_reference(services: Services, run_id: str | None) -> Any:
    """What the Chat tab loads for a run: its last checkpoint, or the model a merge made."""
    record = next((record for record in services.runs.list() if record.id == run_id), None)
    if record is None:
        return gr.skip()
    merged = f"{record.about.get('of')}:merged"
    return next((offer.value for offer in offers(services.runs) if offer.value in (record.id, merged)), record.id)
