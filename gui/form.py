"""Spec ⇄ widgets of the training form: the only file that knows both.

A form is a mapping from a field's name to its widget's value; nothing goes by position. An empty field
means ms-swift's or TuneDesk's default, which stands in the plan that is shown.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from html import escape
from typing import Any

import gradio as gr

from gui.words import t
from services.bootstrap import Services
from services.errors import Refused
from services.hardware.strategies import Choice, methods, strategies
from services.presets import first_journey
from services.specs import SAMPLE, STARTER, TrainSpec, train_spec
from services.swift import catalogue
from services.text import say

ARGUMENTS = (
    "num_train_epochs", "learning_rate", "per_device_train_batch_size", "gradient_accumulation_steps", "max_length",
    "lora_rank", "lora_alpha", "weight_decay", "warmup_ratio", "seed", "save_total_limit",
)  # fmt: skip
"""The ms-swift arguments that have a widget of their own, under the same names."""


@dataclass(frozen=True)
class Form:
    """The widgets, each under the name of its field."""

    model: gr.Dropdown
    hub: gr.Radio
    dataset: gr.Dropdown
    model_name: gr.Textbox
    model_author: gr.Textbox
    method: gr.Radio
    num_train_epochs: gr.Number
    learning_rate: gr.Textbox
    per_device_train_batch_size: gr.Number
    gradient_accumulation_steps: gr.Number
    max_length: gr.Number
    lora_rank: gr.Number
    strategy: gr.Radio
    processes: gr.Textbox
    devices: gr.CheckboxGroup
    name: gr.Textbox
    lora_alpha: gr.Number
    weight_decay: gr.Textbox
    warmup_ratio: gr.Textbox
    seed: gr.Textbox
    save_total_limit: gr.Textbox
    output_dir: gr.Textbox
    extra: gr.Textbox
    env: gr.Textbox
    reasons: tuple[gr.HTML, gr.HTML]
    """Why some methods and some strategies cannot be chosen here."""

    @property
    def widgets(self) -> dict[str, Any]:
        """Name -> widget, in the order of the fields."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "reasons"}

    def values(self, given: Mapping[Any, Any]) -> dict[str, Any]:
        """What a callback that takes the widgets as a set was given, by name."""
        return {name: given.get(widget) for name, widget in self.widgets.items()}


def training_form(services: Services) -> Form:
    """Lay the form out, filled with what a first-time visitor can start at once."""
    machine = services.machine()
    cards = [(f"{card.index} · {card.name}", str(card.index)) for card in machine.cards]
    start = defaults(services)
    with gr.Group():
        model = gr.Dropdown(
            model_choices(services), value=start["model"], label=t("training.model"), info=t("training.model_info"),
            allow_custom_value=True, filterable=True, elem_id="train-model",
        )  # fmt: skip
        hub = gr.Radio(
            [("ModelScope", "ms"), ("Hugging Face", "hf")], value="ms", label=t("training.hub"), visible=False,
            elem_id="train-hub",
        )  # fmt: skip
        dataset = gr.Dropdown(
            dataset_choices(services), value=start["dataset"], multiselect=True, label=t("training.dataset"),
            info=t("training.dataset_info"), allow_custom_value=True, elem_id="train-dataset",
        )  # fmt: skip
        with gr.Row():
            model_name = gr.Textbox(start["model_name"], label=t("training.model_name"), elem_id="train-name")
            model_author = gr.Textbox(start["model_author"], label=t("training.model_author"), elem_id="train-author")
        method = gr.Radio(
            [(t(f"training.method.{choice.name}"), choice.name) for choice in methods(machine)], value=start["method"],
            label=t("training.method"), elem_id="train-method",
        )  # fmt: skip
        method_reasons = gr.HTML()
    with gr.Accordion(t("training.settings"), open=True, elem_id="train-settings"):
        with gr.Row():
            num_train_epochs = _number("num_train_epochs", start, minimum=0)
            learning_rate = gr.Textbox(start["learning_rate"], label=t("training.learning_rate"), min_width=110)
            max_length = _number("max_length", start, minimum=1)
        with gr.Row():
            per_device = _number("per_device_train_batch_size", start, minimum=1)
            accumulation = _number("gradient_accumulation_steps", start, minimum=1)
            lora_rank = _number("lora_rank", start, minimum=1)
    with gr.Accordion(t("training.processes_title"), open=False, elem_id="train-processes-box"):
        options = strategies(machine)
        strategy = gr.Radio(
            [(t("training.strategy.auto"), "auto"), *[(t(f"training.strategy.{o.name}"), o.name) for o in options]],
            value="auto", label=t("training.strategy"), info=t("training.strategy_info"), elem_id="train-strategy",
        )  # fmt: skip
        strategy_reasons = gr.HTML()
        processes = gr.Textbox("", label=t("training.processes"), info=t("training.processes_info"),
                               elem_id="train-processes")  # fmt: skip
        devices = gr.CheckboxGroup(cards, value=[], label=t("training.devices"), visible=bool(cards))
    with gr.Accordion(t("training.advanced"), open=False, elem_id="train-advanced"):
        name = gr.Textbox("", label=t("training.run_name"), info=t("training.run_name_info"), elem_id="train-run-name")
        with gr.Row():
            lora_alpha = _number("lora_alpha", start, minimum=1)
            weight_decay = gr.Textbox("", label=t("training.weight_decay"), placeholder="0.1", min_width=110)
            warmup_ratio = gr.Textbox("", label=t("training.warmup_ratio"), placeholder="0.05", min_width=110)
        with gr.Row():
            seed = _optional_number("seed", "42")
            save_total_limit = _optional_number("save_total_limit", "3")
        output_dir = gr.Textbox("", label=t("training.output_dir"), info=t("training.output_dir_info"),
                                elem_id="train-output")  # fmt: skip
        extra = gr.Textbox("", lines=3, label=t("training.extra"), info=t("training.extra_info"),
                           placeholder="--lora_dropout 0.1", elem_id="train-extra")  # fmt: skip
        env = gr.Textbox("", lines=2, label=t("training.env"), info=t("training.env_info"),
                         placeholder="NCCL_DEBUG=INFO", elem_id="train-env")  # fmt: skip
    return Form(
        model, hub, dataset, model_name, model_author, method, num_train_epochs, learning_rate, per_device,
        accumulation, max_length, lora_rank, strategy, processes, devices, name, lora_alpha, weight_decay,
        warmup_ratio, seed, save_total_limit, output_dir, extra, env, (method_reasons, strategy_reasons),
    )  # fmt: skip


def _number(name: str, start: Mapping[str, Any], minimum: int) -> gr.Number:
    precision = None if name == "num_train_epochs" else 0
    return gr.Number(start.get(name), label=t(f"training.{name}"), minimum=minimum, precision=precision, min_width=110,
                     elem_id=f"train-{name.replace('_', '-')}")  # fmt: skip


def _optional_number(name: str, default: str) -> gr.Textbox:
    """An empty gr.Number turns into 0 as soon as its accordion is opened, so what may be empty is text."""
    return gr.Textbox("", label=t(f"training.{name}"), placeholder=default, min_width=110,
                      elem_id=f"train-{name.replace('_', '-')}")  # fmt: skip


def defaults(services: Services) -> dict[str, Any]:
    """The values of a form that nobody has touched: the first journey's preset."""
    spec = first_journey()
    return {
        "model": STARTER,
        "hub": "ms",
        "dataset": list(spec.dataset),
        "model_name": spec.model_name,
        "model_author": spec.model_author,
        "method": "lora",
        "strategy": "auto",
        **{name: spec.args[name] for name in ARGUMENTS if name in spec.args},
        "learning_rate": f"{spec.args['learning_rate']:g}",
    }


def form_spec(values: Mapping[str, Any]) -> TrainSpec:
    """The spec that the form's values mean. Raises Refused for a value that cannot be understood."""
    model = str(values.get("model") or STARTER).strip()
    args: dict[str, Any] = {"tuner_type": "full" if values.get("method") == "full" else "lora"}
    if values.get("method") == "qlora":
        args |= {"quant_method": "bnb", "quant_bits": 4}
    for name in (*ARGUMENTS, "output_dir"):
        value = values.get(name)
        if value not in (None, ""):
            args[name] = value
    if values.get("method") == "full":
        args = {name: value for name, value in args.items() if not name.startswith("lora_")}
    args |= further_arguments(str(values.get("extra") or ""))
    ours = {
        "model": f"hf::{model}" if values.get("hub") == "hf" and is_hub_id(model) else model,
        "dataset": list(values.get("dataset") or [SAMPLE]),
        "model_name": values.get("model_name") or "",
        "model_author": values.get("model_author") or "",
        "strategy": values.get("strategy") or "auto",
        "processes": str(values.get("processes") or "").strip() or None,
        "devices": values.get("devices") or None,
        "name": values.get("name") or "",
        "env": parse_env(str(values.get("env") or "")),
    }
    return train_spec({**args, **ours})


def further_arguments(text: str) -> dict[str, Any]:
    """The arguments in the free field. Raises Refused("argument_has_field") for one that the form asks for itself."""
    found = catalogue.parse_extra(text)
    for name in found:
        if name in (*ARGUMENTS, "output_dir", "tuner_type") or name in TrainSpec.model_fields:
            raise Refused("argument_has_field", name=name)
    return found


def is_hub_id(model: str) -> bool:
    """True for what looks like ``owner/name``, not like a path or a run."""
    return model.count("/") == 1 and not model.startswith(("/", "~", ".")) and ":" not in model


def parse_env(text: str) -> dict[str, str]:
    """``NAME=value`` lines, values quoted or not. Raises Refused("env_line")."""
    env: dict[str, str] = {}
    for line in text.splitlines():
        words = line.strip().removeprefix("export ").strip()
        name, equals, value = words.partition("=")
        if not words or words.startswith("#"):
            continue
        if not equals or not name.strip().isidentifier():
            raise Refused("env_line", line=words[:80])
        try:
            parts = shlex.split(value)
        except ValueError as error:
            raise Refused("env_line", line=words[:80]) from error
        env[name.strip()] = parts[0] if len(parts) == 1 else value.strip()
    return env


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
        lines = [
            f"<li><b>{escape(say(f'training.{group}.{choice.name}', lang))}</b> "
            f"{escape(say(f'training.reason.{choice.reason}', lang))}</li>"
            for choice in choices
        ]
        pages.append(f'<ul class="td-reasons">{"".join(lines)}</ul>' if lines else "")
    return pages


def disable_script(services: Services) -> str:
    """JavaScript that disables those choices for mouse and keyboard alike."""
    found = impossible(services).items()
    names = [f'#{radio} input[value="{choice.name}"]' for radio, choices in found for choice in choices]
    if not names:
        return "() => {}"
    # Gradio makes the inside of a folded box when it is opened, so this looks again whenever the page grows
    return f"""() => {{
      const off = () => document.querySelectorAll({", ".join(names)!r}).forEach((input) => {{
        if (!input.disabled) {{ input.disabled = true; input.closest("label").classList.add("td-impossible"); }}
      }});
      new MutationObserver(off).observe(document.body, {{childList: true, subtree: true}});
      off();
    }}"""
