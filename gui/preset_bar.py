"""Presets at the top of the form: start from one, keep the settings as one's own, forget one."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import gradio as gr

from gui.words import t
from services.bootstrap import Services
from services.errors import Refused
from services.presets import Preset, machines, personal, preset, presets
from services.text import say

OWN = "★ "


@dataclass(frozen=True)
class PresetBar:
    """The list at the top, and below the form what keeps and forgets one's own."""

    chosen: gr.Dropdown
    evidence: gr.HTML
    name: gr.Textbox
    save: gr.Button
    delete: gr.Button
    message: gr.HTML


def preset_list() -> tuple[gr.Dropdown, gr.HTML]:
    """The list of presets, and what the chosen one was found to take."""
    chosen = gr.Dropdown([], value=None, label=t("training.preset"), elem_id="train-preset")
    return chosen, gr.HTML(elem_id="train-preset-evidence", padding=False)


def preset_keeper(chosen: gr.Dropdown, evidence: gr.HTML) -> PresetBar:
    """The fields with which a person keeps their settings under a name."""
    with gr.Row(elem_id="train-keep"):
        name = gr.Textbox("", label=t("training.preset_name"), max_lines=1, scale=3, elem_id="train-preset-name")
        save = gr.Button(t("training.preset_save"), scale=1, min_width=100, elem_id="train-preset-save")
        delete = gr.Button(t("training.preset_delete"), scale=1, min_width=100, elem_id="train-preset-delete")
    return PresetBar(chosen, evidence, name, save, delete, gr.HTML(elem_id="train-preset-message", padding=False))


def preset_choices(services: Services, lang: str) -> list[tuple[str, str]]:
    """A person's own first, then those that come with TuneDesk by machine, each with where it runs."""
    own = personal(services.settings)
    names = {one.name for one in own}
    shipped = [one for one in presets() if one.name not in names]
    return [(OWN + one.name, one.name) for one in own] + [(_label(one, lang), one.name) for one in shipped]


def _label(one: Preset, lang: str) -> str:
    return f"{machine_name(one.machine or '', lang)} · {one.title(lang)}"


def machine_name(machine: str, lang: str) -> str:
    """``4x24`` as people say it: 4 × 24 GB."""
    if machine == "laptop":
        return say("training.machine_laptop", lang)
    counts = machine.split("x")
    cards = " × ".join([*counts[:-1], f"{counts[-1]} GB"])
    return cards.removeprefix("1 × ")


def evidence_html(name: str | None, services: Services, lang: str) -> str:
    """What a preset was estimated or measured at, on what, and when."""
    if not name:
        return ""
    try:
        one = preset(name, services.settings)
    except Refused:
        return ""
    if one.evidence is None:
        return ""
    found = one.evidence
    where = found.measured_on or _described(one.machine or "", lang)
    seconds = f", {found.seconds:g} s" if found.seconds else ""
    text = say(f"training.evidence.{found.kind}", lang, memory=f"{found.memory_gib:g}", where=where, date=found.date,
               seconds=seconds)  # fmt: skip
    return f'<div class="td-muted td-small td-evidence">{escape(text)}</div>'


def _described(machine: str, lang: str) -> str:
    gpus = machines()[machine].get("gpus")
    return f"{machine_name(machine, lang)} ({gpus[0]['name']})" if gpus else machine_name(machine, lang)
