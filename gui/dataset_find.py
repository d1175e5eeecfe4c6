"""Finding a data set: ms-swift's own list by words, and fetching one from a hub as a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from gui.words import PRIVATE, card, error_card, lang_of, t
from services.bootstrap import Services
from services.datasets import registry
from services.datasets.hub import parse_hub_id
from services.errors import TuneDeskError
from services.specs import DownloadSpec
from services.text import say

LISTED = 30


@dataclass(frozen=True)
class FindPanel:
    """The search, and what is shown for a hub id."""

    words: gr.Textbox
    found: gr.Radio
    hub: gr.Column
    subset: gr.Dropdown
    split: gr.Textbox
    ask: gr.Button
    fetch: gr.Button
    message: gr.HTML


def find_panel() -> FindPanel:
    """Lay the panel out."""
    with gr.Accordion(t("dataset.find_box"), open=False, elem_id="dataset-find-box"):
        words = gr.Textbox("", label=t("dataset.find"), info=t("dataset.find_info"), max_lines=1,
                           elem_id="dataset-find")  # fmt: skip
        found = gr.Radio([], show_label=False, visible=False, elem_id="dataset-found")
    with gr.Column(visible=False, elem_id="dataset-hub") as hub:
        with gr.Row():
            subset = gr.Dropdown([], value=None, label=t("dataset.subset"), allow_custom_value=True, min_width=120,
                                 elem_id="dataset-subset")  # fmt: skip
            split = gr.Textbox("train", label=t("dataset.split"), max_lines=1, min_width=90, elem_id="dataset-split")
        with gr.Row():
            ask = gr.Button(t("dataset.ask_hub"), size="sm", elem_id="dataset-ask")
            fetch = gr.Button(t("dataset.fetch"), size="sm", variant="primary", elem_id="dataset-fetch")
        message = gr.HTML(elem_id="dataset-hub-message", padding=False)
    return FindPanel(words, found, hub, subset, split, ask, fetch, message)


def wire(panel: FindPanel, source: gr.Dropdown, services: Services, runs: gr.Radio, selected: Any) -> None:
    """Connect the search to ``source``, and the download to the list of runs."""

    def on_words(text: str) -> Any:
        names = [name for one in registry.search(text, LISTED) for name in one.sources][:LISTED] if text.strip() else []
        return gr.update(choices=names, value=None, visible=bool(names))

    def on_ask(text: str | None, request: gr.Request) -> tuple[Any, Any]:
        try:
            subsets = services.downloads.subsets(text or "")
        except TuneDeskError as error:
            return gr.skip(), error_card(error, lang_of(request))
        names = [one.name for one in subsets]
        listed = ", ".join(f"{one.name} ({', '.join(one.splits)})" for one in subsets)
        return (gr.update(choices=names, value=names[0] if names else None),
                card("note", say("dataset.subsets", lang_of(request), subsets=listed)))  # fmt: skip

    def on_fetch(text: str | None, subset: str | None, split: str, request: gr.Request) -> dict[Any, Any]:
        lang = lang_of(request)
        named = parse_hub_id(text or "")
        if named is None:
            return {}
        parts = [f"{named.hub}::{named.id}", subset or named.subset or "default", split.strip() or "train"]
        try:
            record = services.downloads.start(DownloadSpec(dataset=":".join(parts)))
        except TuneDeskError as error:
            return {panel.message: error_card(error, lang)}
        started = card("ok", say("dataset.fetching", lang, name=record.name))
        chosen = ":".join(parts)
        return {panel.message: started, runs: selected(services, record.id, lang),
                source: gr.update(value=chosen)}  # fmt: skip

    panel.words.change(on_words, panel.words, panel.found, **PRIVATE)
    panel.found.input(lambda chosen: chosen, panel.found, source, **PRIVATE)
    panel.ask.click(on_ask, source, [panel.subset, panel.message], **PRIVATE)
    panel.fetch.click(on_fetch, [source, panel.subset, panel.split], [panel.message, runs, source], **PRIVATE)
