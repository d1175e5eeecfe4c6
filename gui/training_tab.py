"""The Training tab: what you choose, whether it fits, what it will run, and Start."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from gui import form as forms
from gui import preset_bar
from gui.choices import dataset_choices, model_choices, reasons_html
from gui.fields import argument, as_text
from gui.fit_view import fit_html, ways
from gui.form import MEGATRON_NAMES, PLANNED, Form, form_spec
from gui.import_view import imported_html
from gui.mix_view import mix_html
from gui.preset_bar import PresetBar
from gui.sidebar import selected
from gui.words import PRIVATE, card, error_card, lang_of, t
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.planning.choose import RunnerUp
from services.presets import delete_preset, preset, save_preset
from services.specs import TrainSpec
from services.swift.exporter import FORMS, Script, by_hand, export
from services.swift.importer.read import import_text
from services.text import say
from services.training import Prepared, argv_settings
from services.units import human_bytes

COMMAND = "command"
LANGUAGES = {COMMAND: "shell", "shell": "shell", "yaml": "yaml", "python": "python"}


@dataclass(frozen=True, eq=False)
class Others:
    """The runners-up that are offered. Compared by identity: Gradio hashes what a session keeps."""

    ways: tuple[RunnerUp, ...] = ()


@dataclass(frozen=True)
class TrainingTab:
    """What the window connects to other rooms."""

    form: Form
    presets: PresetBar
    pasted: gr.Textbox
    bring: gr.Button
    brought: gr.HTML
    start: gr.Button
    message: gr.HTML
    summary: gr.HTML
    preview: gr.Code
    preview_as: gr.Radio
    saved: gr.BrowserState
    parent: gr.State
    """The run whose settings were taken over; the next run remembers it."""
    others: gr.State
    """The runners-up that ``form.ways`` offers."""

    @property
    def shown(self) -> list[Any]:
        """The outputs of ``look``, beside the widgets of the form."""
        form = self.form
        fit = [form.mix, form.fit, form.ways_box, form.ways, self.others]
        return [self.summary, self.preview, self.message, form.task_box, *fit]

    @property
    def looked(self) -> list[Any]:
        """All the outputs of ``look``."""
        names = dict.fromkeys((*forms.visible({}), *PLANNED))
        return [*self.shown, *(self.form[name] for name in names)]

    @property
    def filled(self) -> list[Any]:
        """All the outputs of ``fill``."""
        return [*self.form.widgets.values(), *self.shown, self.saved]


def training_tab(services: Services) -> TrainingTab:
    """Lay out the tab; ``wire`` connects it."""
    chosen, evidence = preset_bar.preset_list()
    form = forms.training_form(services)
    with gr.Column(elem_id="train-start-box"):
        message = gr.HTML(elem_id="train-message", padding=False)
        summary = gr.HTML(elem_id="train-summary", padding=False)
        start = gr.Button(t("training.start"), variant="primary", size="lg", elem_id="train-start")
    with gr.Accordion(t("training.preview"), open=False, elem_id="train-preview-box"):
        shown_as = [(t(f"training.preview_as.{one}"), one) for one in (COMMAND, *FORMS)]
        preview_as = gr.Radio(shown_as, value=COMMAND, show_label=False, elem_id="train-preview-as")
        preview = gr.Code(language="shell", interactive=False, show_label=False, show_line_numbers=False,
                          wrap_lines=True, elem_id="train-preview", buttons=["copy"])  # fmt: skip
    with gr.Accordion(t("training.bring_box"), open=False, elem_id="train-bring-box"):
        pasted = gr.Textbox("", lines=6, max_lines=20, label=t("training.pasted"), info=t("training.pasted_info"),
                            placeholder="swift sft --model … --dataset …", elem_id="train-pasted")  # fmt: skip
        bring = gr.Button(t("training.bring"), elem_id="train-bring")
        brought = gr.HTML(elem_id="train-brought", padding=False)
        presets = preset_bar.preset_keeper(chosen, evidence)
    saved = gr.BrowserState({}, storage_key="tunedesk-form", secret="tunedesk-form")
    return TrainingTab(form, presets, pasted, bring, brought, start, message, summary, preview, preview_as, saved,
                       gr.State(""), gr.State(Others()))  # fmt: skip


def wire(tab: TrainingTab, services: Services, runs: gr.Radio) -> None:
    """Connect the form to its preview, and Start to the list of runs."""
    form = tab.form
    widgets = list(form.widgets.values())

    def on_change(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        values = form.values(given)
        return {**look(services, tab, values, lang_of(request), given.get(tab.preview_as)), tab.saved: values}

    def on_start(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        try:
            spec = form_spec(form.values(given))
            record = services.trainings.start(spec, parent=given.get(tab.parent) or None)
        except TuneDeskError as error:
            return {tab.message: error_card(error, lang)}
        return {tab.message: "", tab.parent: "", runs: selected(services, record.id, lang)}

    def on_way(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        place, others = given.get(form.ways), given[tab.others].ways
        if not isinstance(place, int) or place >= len(others):
            return {form.ways: gr.update(value=None)}
        return fill(tab, services, forms.applied(form.values(given), others[place]), lang_of(request))

    form.ways.input(on_way, {*widgets, form.ways, tab.others}, tab.filled, **PRIVATE)
    gr.on([*(widget.change for widget in widgets), tab.preview_as.input], on_change, {*widgets, tab.preview_as},
          [*tab.looked, tab.saved], trigger_mode="always_last", **PRIVATE)  # fmt: skip
    tab.start.click(on_start, {*widgets, tab.parent}, [tab.message, tab.parent, runs], **PRIVATE)
    _wire_presets(tab, services)
    _wire_import(tab, services)


def _wire_presets(tab: TrainingTab, services: Services) -> None:
    bar, form = tab.presets, tab.form

    def on_preset(name: str | None, request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        if not name:
            return {bar.evidence: ""}
        try:
            values = forms.form_values(preset(name, services.settings).spec)
        except TuneDeskError as error:
            return {bar.evidence: error_card(error, lang)}
        return {**fill(tab, services, values, lang), bar.evidence: preset_bar.evidence_html(name, services, lang)}

    def on_save(given: dict[Any, Any], request: gr.Request) -> dict[Any, Any]:
        lang, name = lang_of(request), str(given.get(bar.name) or "")
        try:
            made = save_preset(name, form_spec(form.values(given)), services.settings)
        except TuneDeskError as error:
            return {bar.message: error_card(error, lang)}
        choices = preset_bar.preset_choices(services, lang)
        kept = card("ok", say("training.preset_kept", lang, name=made.name))
        return {bar.message: kept, bar.chosen: gr.update(choices=choices, value=made.name)}

    def on_delete(chosen: str | None, request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        try:
            delete_preset(chosen or "", services.settings)
        except TuneDeskError as error:
            return {bar.message: error_card(error, lang)}
        gone = card("note", say("training.preset_gone", lang, name=chosen))
        choices = preset_bar.preset_choices(services, lang)
        return {bar.message: gone, bar.chosen: gr.update(choices=choices, value=None)}

    bar.chosen.input(on_preset, bar.chosen, [*tab.filled, bar.evidence], **PRIVATE)
    bar.save.click(on_save, {*form.widgets.values(), bar.name}, [bar.message, bar.chosen], **PRIVATE)
    bar.delete.click(on_delete, bar.chosen, [bar.message, bar.chosen], **PRIVATE)


def _wire_import(tab: TrainingTab, services: Services) -> None:
    def on_bring(text: str, request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        try:
            found = import_text(text or "", None, services.settings)
            page = imported_html(found, lang)
            if not isinstance(found.spec, TrainSpec):
                return {tab.brought: page}
            values = forms.form_values(found.spec)
        except TuneDeskError as error:
            return {tab.brought: error_card(error, lang)}
        return {**fill(tab, services, values, lang), tab.brought: page}

    tab.bring.click(on_bring, tab.pasted, [*tab.filled, tab.brought], **PRIVATE)


def restore(tab: TrainingTab, services: Services, saved: dict[str, Any] | None, lang: str) -> dict[Any, Any]:
    """The form as this browser left it (else as a first visitor sees it), and what it comes to."""
    form = tab.form
    values = forms.defaults() | {
        name: value for name, value in (saved or {}).items() if name in form.widgets and value is not None
    }
    shown = fill(tab, services, values, lang)
    shown |= dict(zip(form.reasons, reasons_html(services, lang), strict=True))
    return {**shown, tab.presets.chosen: gr.update(choices=preset_bar.preset_choices(services, lang))}


def fill(tab: TrainingTab, services: Services, values: dict[str, Any], lang: str) -> dict[Any, Any]:
    """Updates that put ``values`` into the form, show what they come to, and keep them in the browser."""
    form = tab.form
    updates: dict[Any, Any] = {form[name]: gr.update(value=value) for name, value in values.items()}
    for name, offered in (("model", model_choices(services)), ("dataset", dataset_choices(services))):
        updates[form[name]] = gr.update(choices=offered, value=values[name])
    updates[form["strategy"]] = forms.strategy_update(services, str(values["strategy"]))
    updates[form["devices"]] = forms.devices_update(services, list(values.get("devices") or ()))
    for part, update in look(services, tab, values, lang).items():
        updates[part] = {**updates[part], **update} if part in updates else update
    return {**updates, tab.saved: values}


def look(
    services: Services, tab: TrainingTab, values: dict[str, Any], lang: str, preview_as: str | None = None
) -> dict[Any, Any]:
    """What the form comes to: whether it fits, the figures, the command, or why it cannot run."""
    updates = tab.form.visibility(values)
    updates[tab.form.mix] = ""
    try:
        spec = form_spec(values)
        updates[tab.form.mix] = mix_html(services, spec, lang)
        prepared = services.trainings.prepare(spec)
        text = preview(services, prepared, preview_as or COMMAND)
    except TuneDeskError as error:
        hidden = {tab.form.fit: "", tab.form.ways_box: gr.update(visible=False)}
        return {**updates, **hidden, tab.summary: "", tab.preview: "", tab.message: error_card(error, lang)}
    for name, planned in _planned(prepared).items():
        part = tab.form[name]
        updates[part] = {**updates.get(part, gr.update()), "placeholder": planned}
    advice = prepared.advice
    return {
        **updates,
        tab.form.fit: fit_html(advice, lang),
        tab.form.ways_box: gr.update(visible=bool(advice.runners_up)),
        tab.form.ways: gr.update(choices=ways(advice, lang), value=None),
        tab.others: Others(advice.runners_up),
        tab.summary: summary_html(services, prepared, lang),
        tab.preview: gr.update(value=text, language=LANGUAGES[preview_as or COMMAND]),
        tab.message: "",
    }


def preview(services: Services, prepared: Prepared, form: str) -> str:
    """The command as it will run, or as a script that runs it by hand in a folder of its own."""
    if form not in FORMS:
        return str(prepared.plan)
    name = prepared.spec.name.strip() or "tunedesk-run"
    folder = Path.home() / name.replace("/", "_")
    script = Script(by_hand(prepared.node_plan, str(folder), name), str(folder), prepared.spec, name)
    return export(script, form)


def _planned(prepared: Prepared) -> dict[str, str]:
    """What stands in grey in the empty fields: the settings that were planned for this machine."""
    settings = argv_settings(prepared.plan)
    found = {name: settings.get(name, settings.get(MEGATRON_NAMES.get(name, name), "")) for name in PLANNED}
    return {name: as_text(name, _number(name, value)) for name, value in found.items()}


def _number(name: str, text: str) -> Any:
    return float(text) if text and argument(name).type == "float" else text


def summary_html(services: Services, prepared: Prepared, lang: str) -> str:
    """The figures a person wants to see before Start."""
    machine = services.machine()
    needed = prepared.disk_needed
    where = str(prepared.plan.output_dir).replace("{run}", str(services.runs.root / "…"))
    unknown = say("training.unknown", lang)
    facts = (
        ("training.fact_batch", say("training.fact_batch_value", lang, batch=prepared.total_batch)),
        ("training.fact_rows", str(prepared.data.rows or unknown)),
        ("training.fact_steps", str(prepared.plan.total_steps or unknown)),
        ("training.fact_disk", say("training.fact_disk_value", lang, free=human_bytes(machine.disk_free),
                                   needed=human_bytes(needed) if needed is not None else unknown)),
        ("training.fact_where", where),
    )  # fmt: skip
    cells = "".join(f"<div><dt>{escape(say(key, lang))}</dt><dd>{escape(value)}</dd></div>" for key, value in facts)
    return f'<dl class="td-facts">{cells}</dl>'
