"""The Export tab: merge a LoRA into its base model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from gui.sidebar import selected
from gui.words import PRIVATE, card, error_card, lang_of, t
from services.bootstrap import Services
from services.errors import TuneDeskError
from services.runs.folder import RunState
from services.specs import MergeSpec
from services.text import say


@dataclass(frozen=True)
class ExportTab:
    """What the window connects to other rooms."""

    adapter: gr.Dropdown
    base: gr.Textbox
    name: gr.Textbox
    message: gr.HTML
    preview: gr.Code
    merge: gr.Button


def export_tab(services: Services) -> ExportTab:
    """Lay out the tab; ``wire`` connects it."""
    choices = adapter_choices(services)
    gr.Markdown(t("export.about"), elem_id="export-about", elem_classes="td-small")
    with gr.Group():
        adapter = gr.Dropdown(
            choices, value=None, label=t("export.adapter"), info=t("export.adapter_info"), allow_custom_value=True,
            elem_id="export-adapter",
        )  # fmt: skip
        base = gr.Textbox("", label=t("export.base"), info=t("export.base_info"), elem_id="export-base")
        name = gr.Textbox("", label=t("export.name"), info=t("export.name_info"), elem_id="export-name")
    message = gr.HTML(elem_id="export-message")
    merge = gr.Button(t("export.merge"), variant="primary", size="lg", elem_id="export-merge")
    with gr.Accordion(t("training.preview"), open=False):
        preview = gr.Code(language="shell", interactive=False, show_label=False, show_line_numbers=False,
                          wrap_lines=True, elem_id="export-preview", buttons=["copy"])  # fmt: skip
    return ExportTab(adapter, base, name, message, preview, merge)


def wire(tab: ExportTab, services: Services, runs: gr.Radio) -> None:
    """Connect the fields to the preview, and Merge to the list of runs."""
    inputs = [tab.adapter, tab.base, tab.name]

    def on_change(adapter: str | None, base: str, name: str, request: gr.Request) -> tuple[str, str]:
        return look(services, adapter, base, name, lang_of(request))

    def on_merge(adapter: str | None, base: str, name: str, request: gr.Request) -> tuple[Any, Any]:
        lang = lang_of(request)
        if not adapter:
            return _none_chosen(services, lang), gr.skip()
        try:
            record = services.merges.start(MergeSpec(adapter=adapter, base=base.strip() or None, name=name))
        except TuneDeskError as error:
            return error_card(error, lang), gr.skip()
        return "", selected(services, record.id, lang)

    gr.on([tab.adapter.change, tab.base.change, tab.name.change], on_change, inputs, [tab.preview, tab.message],
          trigger_mode="always_last", **PRIVATE)  # fmt: skip
    tab.adapter.focus(lambda: gr.Dropdown(choices=adapter_choices(services)), None, tab.adapter, **PRIVATE)
    tab.merge.click(on_merge, inputs, [tab.message, runs], **PRIVATE)


def look(services: Services, adapter: str | None, base: str, name: str, lang: str) -> tuple[str, str]:
    """The command, or why it cannot run."""
    if not adapter:
        return "", _none_chosen(services, lang)
    try:
        plan, model = services.merges.prepare(MergeSpec(adapter=adapter, base=base.strip() or None, name=name))
    except TuneDeskError as error:
        return "", error_card(error, lang)
    summary = say("export.will_merge", lang, adapter=model.label, base=model.source.model, folder=plan.output_dir)
    return str(plan), card("note", summary)


def hint(services: Services, lang: str) -> Any:
    """What to do first, where there is nothing to merge yet."""
    return gr.skip() if adapter_choices(services) else card("note", say("export.empty", lang))


def _none_chosen(services: Services, lang: str) -> str:
    return card("note", say("export.choose" if adapter_choices(services) else "export.empty", lang))


def adapter_choices(services: Services) -> list[tuple[str, str]]:
    """The checkpoints of runs that trained a LoRA, the newest run first and its last checkpoint first."""
    choices = []
    for record in services.runs.list():
        if record.kind != "train" or record.about.get("tuner") == "full" or record.state is RunState.QUEUED:
            continue
        try:
            checkpoints = services.runs.snapshot(record.id).checkpoints
        except TuneDeskError:
            continue
        choices += [
            (f"{record.name} · {item.path.name}", f"{record.id}:{item.path.name}") for item in reversed(checkpoints)
        ]
    return choices
