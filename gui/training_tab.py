"""The Training tab: what you choose, what it will run, and Start."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import gradio as gr

from gui import form as forms
from gui.form import Form, form_spec, is_hub_id
from gui.sidebar import selected
from gui.words import PRIVATE, error_card, lang_of, t
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.specs import SAMPLE
from services.text import say
from services.training import Prepared
from services.units import human_bytes


@dataclass(frozen=True)
class TrainingTab:
    """What the window connects to other rooms."""

    form: Form
    start: gr.Button
    message: gr.HTML
    summary: gr.HTML
    preview: gr.Code
    saved: gr.BrowserState

    @property
    def shown(self) -> list[Any]:
        """The outputs of ``on_change``."""
        return [self.summary, self.preview, self.message, self.form.model_name, self.form.model_author, self.form.hub]


def training_tab(services: Services) -> TrainingTab:
    """Lay out the tab; ``wire`` connects it."""
    form = forms.training_form(services)
    with gr.Column(elem_id="train-start-box"):
        message = gr.HTML(elem_id="train-message", padding=False)
        summary = gr.HTML(elem_id="train-summary", padding=False)
        start = gr.Button(t("training.start"), variant="primary", size="lg", elem_id="train-start")
    with gr.Accordion(t("training.preview"), open=False, elem_id="train-preview-box"):
        preview = gr.Code(language="shell", interactive=False, show_label=False, show_line_numbers=False,
                          wrap_lines=True, elem_id="train-preview", buttons=["copy"])  # fmt: skip
    saved = gr.BrowserState({}, storage_key="tunedesk-form", secret="tunedesk-form")
    return TrainingTab(form, start, message, summary, preview, saved)


def wire(tab: TrainingTab, services: Services, runs: gr.Radio) -> None:
    """Connect the form to its preview, and Start to the list of runs."""
    form = tab.form
    widgets = list(form.widgets.values())

    def on_change(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        values = form.values(given)
        return {**look(services, tab, values, lang_of(request)), tab.saved: values}

    def on_start(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        try:
            record = services.trainings.start(form_spec(form.values(given)))
        except TuneDeskError as error:
            return {tab.message: error_card(error, lang)}
        return {tab.message: "", runs: selected(services, record.id, lang)}

    gr.on([widget.change for widget in widgets], on_change, set(widgets), [*tab.shown, tab.saved],
          trigger_mode="always_last", **PRIVATE)  # fmt: skip
    tab.start.click(on_start, set(widgets), [tab.message, runs], **PRIVATE)


def restore(tab: TrainingTab, services: Services, saved: dict[str, Any] | None, lang: str) -> dict[Any, Any]:
    """The form as this browser left it (else as a first visitor sees it), and what it comes to."""
    form = tab.form
    values = forms.defaults(services) | {
        name: value for name, value in (saved or {}).items() if name in form.widgets and value is not None
    }
    updates: dict[Any, Any] = {form.widgets[name]: value for name, value in values.items()}
    choices = {form.model: forms.model_choices(services), form.dataset: forms.dataset_choices(services)}
    for widget, offered in choices.items():
        updates[widget] = gr.Dropdown(choices=offered, value=updates[widget])
    for box, text in zip(form.reasons, forms.reasons_html(services, lang), strict=True):
        updates[box] = text
    shown = look(services, tab, values, lang)
    for name in ("model_name", "model_author", "hub"):
        shown[form.widgets[name]] = gr.update(value=values[name], visible=_visible(name, values))
    return {**updates, **shown}


def look(services: Services, tab: TrainingTab, values: dict[str, Any], lang: str) -> dict[Any, Any]:
    """What the form comes to: the figures, the command, or why it cannot run."""
    visible = {
        tab.form.widgets[name]: gr.update(visible=_visible(name, values))
        for name in ("model_name", "model_author", "hub")
    }
    try:
        prepared = services.trainings.prepare(form_spec(values))
    except TuneDeskError as error:
        return {tab.summary: "", tab.preview: "", tab.message: error_card(error, lang), **visible}
    return {
        tab.summary: summary_html(services, prepared, lang),
        tab.preview: str(prepared.plan),
        tab.message: "",
        **visible,
    }


def _visible(name: str, values: dict[str, Any]) -> bool:
    if name == "hub":
        return is_hub_id(str(values.get("model") or ""))
    return SAMPLE in (values.get("dataset") or [])


def summary_html(services: Services, prepared: Prepared, lang: str) -> str:
    """The figures a person wants to see before Start."""
    machine = services.machine()
    needed = prepared.disk_needed
    where = str(prepared.plan.output_dir).replace("{run}", str(services.runs.root / "…"))
    unknown = say("training.unknown", lang)
    facts = (
        ("training.fact_batch", say("training.fact_batch_value", lang, batch=prepared.total_batch,
                                    processes=prepared.plan.processes)),
        ("training.fact_rows", str(prepared.data.rows or unknown)),
        ("training.fact_steps", str(prepared.plan.total_steps or unknown)),
        ("training.fact_disk", say("training.fact_disk_value", lang, free=human_bytes(machine.disk_free),
                                   needed=human_bytes(needed) if needed is not None else unknown)),
        ("training.fact_where", where),
    )  # fmt: skip
    cells = "".join(f"<div><dt>{escape(say(key, lang))}</dt><dd>{escape(value)}</dd></div>" for key, value in facts)
    return f'<dl class="td-facts">{cells}</dl>'
