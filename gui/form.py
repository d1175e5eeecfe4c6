"""Spec ⇄ widgets of the training form: the only file that knows both.

A form is a mapping from a field's name to its widget's value; nothing goes by position. An empty field
means that it is planned for this machine, or ms-swift's default; the plan that is shown says which.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gradio as gr

from gui.choices import dataset_choices, model_choices
from gui.fields import ARGUMENTS, BOXES, CONDITIONAL, TASKS, as_text, as_value, is_shown, widget
from gui.knobs import KNOBS, configuration, is_knob_shown, knob_values, knob_widgets
from gui.target_fields import target_part, target_values, target_visibility, target_widgets
from gui.words import t
from services.bootstrap import Services
from services.errors import Refused
from services.planning.choose import RunnerUp
from services.planning.offered import methods, strategies
from services.presets import first_journey
from services.specs import SAMPLE, STARTER, TrainSpec, train_spec
from services.swift import catalogue
from services.swift.methods import MEGATRON, method_of

OURS = ("model", "hub", "dataset", "model_name", "model_author", "task", "method", "strategy", "processes", "devices",
        "name", "output_dir", "extra", "env")  # fmt: skip
"""The fields that are not one ms-swift argument each."""
PLANNED = ("num_train_epochs", "learning_rate", "max_length", "per_device_train_batch_size",
           "gradient_accumulation_steps", "lora_rank", "lora_alpha", "save_steps", "save_total_limit")  # fmt: skip
"""Fields that say in grey what is planned while they are empty."""
MEGATRON_NAMES = {"per_device_train_batch_size": "micro_batch_size", "learning_rate": "lr"}
"""What the megatron commands call the same."""


@dataclass(frozen=True)
class Form:
    """The widgets, each under the name of its field."""

    widgets: Mapping[str, Any]
    reasons: tuple[gr.HTML, gr.HTML]
    """Why some methods and some strategies cannot be chosen here."""
    task_box: gr.Accordion
    """Holds the task's own fields; shown where there are any."""
    mix: gr.HTML
    """How the data sets are mixed."""
    fit: gr.HTML
    """Whether it fits this machine, and why it is done so."""
    ways_box: gr.Accordion
    ways: gr.Radio
    """The other ways to do it; choosing one fills the form accordingly."""

    def __getitem__(self, name: str) -> Any:
        return self.widgets[name]

    def values(self, given: Mapping[Any, Any]) -> dict[str, Any]:
        """What a callback that takes the widgets as a set was given, by name."""
        return {name: given.get(widget) for name, widget in self.widgets.items()}

    def visibility(self, values: Mapping[str, Any]) -> dict[Any, Any]:
        """Updates that show what has a meaning for ``values`` and hide the rest."""
        shown = visible(values)
        box = any(shown[name] for name in BOXES["task"])
        return {
            **{self.widgets[name]: gr.update(visible=is_visible) for name, is_visible in shown.items()},
            self.task_box: gr.update(visible=box),
        }


def visible(values: Mapping[str, Any]) -> dict[str, bool]:
    """Name -> whether the field is shown, for the fields that are not always there."""
    task, method = str(values.get("task") or "sft"), str(values.get("method") or "lora")
    sampled = SAMPLE in (values.get("dataset") or [])
    strategy = str(values.get("strategy") or "auto")
    shown = {name: is_shown(name, task, method, strategy) for name in CONDITIONAL}
    shown |= {name: is_knob_shown(name, strategy) for name in KNOBS}
    shown |= target_visibility(values)
    return {**shown, "model_name": sampled, "model_author": sampled, "hub": is_hub_id(str(values.get("model") or ""))}


def training_form(services: Services) -> Form:
    """Lay the form out, filled with what a first-time visitor can start at once."""
    machine = services.machine()
    start = defaults()
    made: dict[str, Any] = {}
    with gr.Group():
        _what(services, start, made)
    mix = gr.HTML(elem_id="train-mix", padding=False)
    with gr.Row(elem_id="train-how"):
        made["task"] = gr.Dropdown([(t(f"training.task.{one}"), one) for one in TASKS], value="sft",
                                   label=t("training.task"), info=t("training.task_info"), elem_id="train-task",
                                   filterable=False)  # fmt: skip
        options = [(t(f"training.method.{choice.name}"), choice.name) for choice in methods(machine)]
        made["method"] = gr.Radio(options, value=start["method"], label=t("training.method"), elem_id="train-method")
    method_reasons = gr.HTML(padding=False)
    fit = gr.HTML(elem_id="train-fit", padding=False)
    with gr.Accordion(t("training.ways"), open=False, visible=False, elem_id="train-ways-box") as ways_box:
        ways = gr.Radio([], show_label=False, elem_id="train-ways")
    with gr.Accordion(t("training.task_box"), open=True, visible=False, elem_id="train-task-box") as task_box:
        _fields("task", start, made)
    with gr.Accordion(t("training.settings"), open=True, elem_id="train-settings"):
        _fields("basics", start, made)
    with gr.Accordion(t("training.tuner_box"), open=False, elem_id="train-tuner-box"):
        _fields("tuner", start, made)
    with gr.Accordion(t("training.evaluation_box"), open=False, elem_id="train-evaluation-box"):
        _fields("evaluation", start, made)
    with gr.Accordion(t("training.speed_box"), open=False, elem_id="train-speed-box"):
        _fields("speed", start, made)
    with gr.Accordion(t("training.processes_title"), open=False, elem_id="train-processes-box"):
        strategy_reasons = _processes(services, start, made)
    with gr.Accordion(t("training.target_box"), open=False, elem_id="train-target-box"):
        made.update(target_widgets())
    with gr.Accordion(t("training.advanced"), open=False, elem_id="train-advanced"):
        _more(start, made)
    return Form(made, (method_reasons, strategy_reasons), task_box, mix, fit, ways_box, ways)


def _what(services: Services, start: Mapping[str, Any], made: dict[str, Any]) -> None:
    made["model"] = gr.Dropdown(
        model_choices(services), value=start["model"], label=t("training.model"), info=t("training.model_info"),
        allow_custom_value=True, filterable=True, elem_id="train-model",
    )  # fmt: skip
    made["hub"] = gr.Radio([("ModelScope", "ms"), ("Hugging Face", "hf")], value="ms", label=t("training.hub"),
                           visible=False, elem_id="train-hub")  # fmt: skip
    made["dataset"] = gr.Dropdown(
        dataset_choices(services), value=start["dataset"], multiselect=True, label=t("training.dataset"),
        info=t("training.dataset_info"), allow_custom_value=True, elem_id="train-dataset",
    )  # fmt: skip
    with gr.Row():
        made["model_name"] = gr.Textbox(start["model_name"], label=t("training.model_name"), elem_id="train-name")
        made["model_author"] = gr.Textbox(start["model_author"], label=t("training.model_author"),
                                          elem_id="train-author")  # fmt: skip


def _fields(box: str, start: Mapping[str, Any], made: dict[str, Any]) -> None:
    shown = visible(start)
    with gr.Row(elem_classes="td-fields"):
        for name in BOXES[box]:
            made[name] = widget(name, shown.get(name, True), start.get(name, ""))


def _processes(services: Services, start: Mapping[str, Any], made: dict[str, Any]) -> gr.HTML:
    machine = services.machine()
    cards = card_choices(services)
    options = [(t(f"training.strategy.{one.name}"), one.name) for one in strategies(machine)]
    made["strategy"] = gr.Radio(
        [(t("training.strategy.auto"), "auto"), *options], value="auto", label=t("training.strategy"),
        info=t("training.strategy_info"), elem_id="train-strategy",
    )  # fmt: skip
    reasons = gr.HTML(padding=False)
    made["processes"] = gr.Textbox("", label=t("training.processes"), info=t("training.processes_info"),
                                   elem_id="train-processes")  # fmt: skip
    made["devices"] = gr.CheckboxGroup(cards, value=[], label=t("training.devices"), visible=bool(cards))
    _fields("processes", start, made)
    _fields("megatron", start, made)
    with gr.Row(elem_classes="td-fields"):
        made.update(knob_widgets())
    return reasons


def card_choices(services: Services) -> list[tuple[str, str]]:
    """The cards of this machine by their numbers."""
    return [(f"{card.index} · {card.name}", str(card.index)) for card in services.machine().cards]


def devices_update(services: Services, chosen: list[str]) -> Any:
    """The list of cards; one that is not here but was asked for stays in it, so that it can be taken away."""
    choices = card_choices(services)
    known = {number for _, number in choices}
    choices += [(number, number) for number in chosen if number not in known]
    return gr.update(choices=choices, value=chosen, visible=bool(choices))


def strategy_update(services: Services, chosen: str) -> Any:
    """The list of strategies; one that is not offered here but was asked for stays in it."""
    offered = [one.name for one in strategies(services.machine())]
    if chosen in ("auto", *offered):
        return gr.update(value=chosen)
    names = ["auto", *offered, chosen]
    return gr.update(choices=[(t(f"training.strategy.{name}"), name) for name in names], value=chosen)


def _more(start: Mapping[str, Any], made: dict[str, Any]) -> None:
    made["name"] = gr.Textbox("", label=t("training.run_name"), info=t("training.run_name_info"),
                              elem_id="train-run-name")  # fmt: skip
    _fields("more", start, made)
    made["output_dir"] = gr.Textbox("", label=t("training.output_dir"), info=t("training.output_dir_info"),
                                    elem_id="train-output")  # fmt: skip
    made["extra"] = gr.Textbox("", lines=3, label=t("training.extra"), info=t("training.extra_info"),
                               placeholder="--lora_bias all", elem_id="train-extra")  # fmt: skip
    made["env"] = gr.Textbox("", lines=2, label=t("training.env"), info=t("training.env_info"),
                             placeholder="NCCL_DEBUG=INFO", elem_id="train-env")  # fmt: skip


def defaults() -> dict[str, Any]:
    """The values of a form that nobody has touched: the first journey's, where they are not planned anyway."""
    spec = first_journey()
    values = form_values(spec.model_copy(update={"args": {}}))
    return values | {"num_train_epochs": as_text("num_train_epochs", spec.args["num_train_epochs"])}


def form_values(spec: TrainSpec) -> dict[str, Any]:
    """The form's values for ``spec``; what has no field of its own stands among the further arguments."""
    args = dict(spec.args)
    values: dict[str, Any] = dict.fromkeys((*OURS, *ARGUMENTS, *KNOBS), "") | target_values(spec)
    strategy: str = spec.strategy
    if (knobs := knob_values(args.get("deepspeed"))) is not None:
        del args["deepspeed"]
        strategy = strategy if strategy != "auto" else knobs[0]
        values |= knobs[1]
    tuner = str(args.pop("tuner_type", "lora"))
    values["task"] = method_of(spec.command, args).name
    if values["task"] not in TASKS:
        raise Refused("form_has_no_task", task=values["task"])
    args.pop("rlhf_type", None)
    values["method"] = "full" if tuner == "full" else "qlora" if args.get("quant_method") in ("bnb", "hqq") else "lora"
    if tuner not in ("lora", "full"):
        args["tuner_type"] = tuner
    values["output_dir"] = str(args.pop("output_dir", ""))
    names = {ours: name for name, ours in MEGATRON_NAMES.items()} if spec.command.startswith(MEGATRON) else {}
    for name, value in args.items():
        if names.get(name, name) in ARGUMENTS and not isinstance(value, Mapping):
            values[names.get(name, name)] = as_text(names.get(name, name), value)
    extra = {name: value for name, value in args.items() if not values.get(names.get(name, name))}
    values["extra"] = "\n".join(_line(name, value) for name, value in extra.items())
    hub, _, model = spec.model.rpartition("::")
    return values | {
        "model": model, "hub": "hf" if hub == "hf" else "ms", "dataset": list(spec.dataset),
        "model_name": spec.model_name, "model_author": spec.model_author, "strategy": strategy,
        "processes": str(spec.processes or ""), "devices": list(spec.devices or ()), "name": spec.name,
        "env": "\n".join(f"{name}={shlex.quote(value)}" for name, value in spec.env.items()),
    }  # fmt: skip


def applied(values: Mapping[str, Any], way: RunnerUp) -> dict[str, Any]:
    """``values`` with another way of the planner's put into them. Raises Refused for values that mean no spec."""
    spec = form_spec(values)
    args = {**spec.args, **{name: value for name, value in way.settings.items() if name not in ("deepspeed", "fsdp")}}
    changed = spec.model_copy(update={"strategy": way.strategy, "processes": way.processes, "args": args})
    return {**form_values(changed), "hub": values.get("hub")}


def _line(name: str, value: Any) -> str:
    words = catalogue.to_argv({name: value})
    return shlex.join(words)


def form_spec(values: Mapping[str, Any]) -> TrainSpec:
    """The spec that the form's values mean. Raises Refused for a value that cannot be understood."""
    model = str(values.get("model") or STARTER).strip()
    task, method = str(values.get("task") or "sft"), str(values.get("method") or "lora")
    extra = further_arguments(str(values.get("extra") or ""))
    tuner = "full" if method == "full" else extra.pop("tuner_type", "lora")
    args: dict[str, Any] = {"tuner_type": tuner, **_own_fields(values, task, method)}
    command = "rlhf" if task not in ("sft", "pt") else task
    if command == "rlhf":
        args["rlhf_type"] = task
    if (deepspeed := configuration(values, str(values.get("strategy") or "auto"))) is not None:
        args["deepspeed"] = deepspeed
    if values.get("strategy") == "megatron":
        command = MEGATRON + command
        args = {MEGATRON_NAMES.get(name, name): value for name, value in args.items()}
    if method == "qlora":
        args.setdefault("quant_method", "bnb")
    ours = {
        "command": command,
        "model": f"hf::{model}" if values.get("hub") == "hf" and is_hub_id(model) else model,
        "dataset": list(values.get("dataset") or ()),
        "model_name": values.get("model_name") or "",
        "model_author": values.get("model_author") or "",
        "strategy": values.get("strategy") or "auto",
        "processes": str(values.get("processes") or "").strip() or None,
        "devices": values.get("devices") or None,
        "name": values.get("name") or "",
        "env": parse_env(str(values.get("env") or "")),
        **target_part(values),
    }
    return train_spec({**args, **extra, **ours})


def _own_fields(values: Mapping[str, Any], task: str, method: str) -> dict[str, Any]:
    """The arguments with a field that is shown and filled in."""
    strategy = str(values.get("strategy") or "auto")
    found: dict[str, Any] = {}
    for name in (*ARGUMENTS, "output_dir"):
        text = str(values.get(name) or "").strip()
        if not text or (name in CONDITIONAL and not is_shown(name, task, method, strategy)):
            continue
        try:
            found[name] = text if name == "output_dir" else as_value(name, text)
        except ValueError as error:
            raise Refused("field_quote", name=name, text=text[:80]) from error
    return found


def further_arguments(text: str) -> dict[str, Any]:
    """The arguments in the free field. Raises Refused("argument_has_field") for one that the form asks for itself."""
    found = catalogue.parse_extra(text)
    for name in found:
        if name in (*ARGUMENTS, "output_dir", "rlhf_type") or name in TrainSpec.model_fields:
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
