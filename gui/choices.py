"""What can be chosen on this machine: models, data sets, and which methods and strategies cannot run here."""

from __future__ import annotations

from html import escape
from typing import Any

from gui.words import t
from services.bootstrap import Services
from services.planning.offered import Choice, methods, strategies
from services.specs import SAMPLE, STARTER
from services.text import say


def model_choices(services: Services) -> list[tuple[Any, str]]:
    """The starter and the models that were merged here; a folder or a hub id can be typed."""
    merged = [
        (f"{record.name}", record.output_dir)
        for record in services.runs.list()
        if record.kind == "merge" and record.state == "succeeded"
    ]
    return [(t("training.starter"), STARTER), *merged]


def dataset_choices(services: Services) -> list[tuple[Any, str]]:
    """The sample and the files that were uploaded; a path or a hub id can be typed."""
    folder = services.settings.datasets
    found = folder.iterdir() if folder.is_dir() else ()
    files = sorted(path for path in found if path.is_file() and not path.name.startswith("."))
    return [(t("training.sample"), SAMPLE), *[(path.name, str(path)) for path in files]]


def impossible(services: Services) -> dict[str, list[Choice]]:
    """The methods and strategies that cannot be chosen here, by the id of their radio."""
    machine = services.machine()
    found = {"train-method": methods(machine), "train-strategy": strategies(machine)}
    return {radio: [choice for choice in choices if choice.reason] for radio, choices in found.items()}


def reasons_html(services: Services, lang: str) -> list[str]:
    """Why some choices cannot be made here: for the methods, and for the strategies."""
    pages = []
    for radio, choices in impossible(services).items():
        group = radio.removeprefix("train-")
        lines = "".join(f"<li>{_reason(group, choice, lang)}</li>" for choice in choices)
        pages.append(f'<ul class="td-reasons">{lines}</ul>' if lines else "")
    return pages


def _reason(group: str, choice: Choice, lang: str) -> str:
    """The sentence, with its subject in front where it does not begin with it."""
    name, why = say(f"training.{group}.{choice.name}", lang), say(f"training.reason.{choice.reason}", lang)
    return escape(why) if why.startswith(name) else f"<b>{escape(name)}</b> {escape(why)}"


def disable_script(services: Services) -> str:
    """JavaScript that disables those choices for mouse and keyboard alike."""
    found = impossible(services).items()
    names = [f'#{radio} input[value="{choice.name}"]' for radio, choices in found for choice in choices]
    if services.settings.vllm_python is None:
        names.append('#chat-engine input[value="vllm"]')
    if not names:
        return "() => {}"
    # Gradio makes the inside of a folded box when it is opened, so this looks again whenever the page grows
    return f"""() => {{
      const off = () => document.querySelectorAll({", ".join(names)!r}).forEach((input) => {{
        if (!input.disabled) {{ input.disabled = true; input.closest("label").classList.add("td-impossible"); }}
      }});
      new MutationObserver(off).observe(document.body,
        {{childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"]}});
      off();
    }}"""
