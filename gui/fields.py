"""The fields of the training form that are ms-swift arguments: where each lies, for what it is shown, its widget.

A field's name is ms-swift's own. An empty field means "as planned for this machine" or ms-swift's default.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import gradio as gr

from gui.words import t
from services.swift import catalogue
from services.swift.argument import Argument
from services.swift.methods import FULL_FIELDS, LORA_FIELDS, METHODS, QLORA_FIELDS
from services.text import WORDS

BASICS = ("num_train_epochs", "learning_rate", "max_length", "per_device_train_batch_size",
          "gradient_accumulation_steps", "lora_rank")  # fmt: skip
SPEED = ("torch_dtype", "gradient_checkpointing", "attn_impl", "packing", "padding_free", "use_liger_kernel",
         "group_by_length", "dataloader_num_workers", "optim", "neftune_noise_alpha", "loss_scale",
         "streaming")  # fmt: skip
EVALUATION = ("val_dataset", "split_dataset_ratio", "eval_strategy", "eval_steps", "load_best_model_at_end",
              "metric_for_best_model", "early_stop_interval", "save_steps", "save_total_limit",
              "save_only_model")  # fmt: skip
PROCESSES = ("sequence_parallel_size",)
MEGATRON_SIZES = ("tensor_model_parallel_size", "pipeline_model_parallel_size", "expert_model_parallel_size",
                  "context_parallel_size")  # fmt: skip
MORE = ("system", "truncation_strategy", "weight_decay", "warmup_ratio", "lr_scheduler_type", "max_grad_norm",
        "max_steps", "seed")  # fmt: skip
TASKS = tuple(name for name in METHODS if name != "ppo")
"""The methods with a form of their own; the others are reached by their arguments' names."""


def _with_words(names: Sequence[str], elsewhere: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if f"field.{name}" in WORDS and name not in elsewhere))


_ELSEWHERE = (*BASICS, *SPEED, *EVALUATION, *PROCESSES, *MEGATRON_SIZES, *MORE)
TASK = _with_words([name for task in TASKS for name in METHODS[task].fields] + ["ref_model"], _ELSEWHERE)
TUNER = _with_words([*LORA_FIELDS, *QLORA_FIELDS, *FULL_FIELDS], _ELSEWHERE)
BOXES: Mapping[str, tuple[str, ...]] = {
    "basics": BASICS, "task": TASK, "tuner": TUNER, "evaluation": EVALUATION, "speed": SPEED,
    "processes": PROCESSES, "megatron": MEGATRON_SIZES, "more": MORE,
}  # fmt: skip
"""Which arguments lie in which part of the form, in their order."""
ARGUMENTS = tuple(name for names in BOXES.values() for name in names)
CONDITIONAL = (*TASK, *TUNER, "lora_rank", *MEGATRON_SIZES, *PROCESSES)
"""The fields that are shown for some tasks or methods only."""
LONG = ("system",)
"""Texts that may have several lines."""
SUGGESTED: Mapping[str, tuple[str, ...]] = {
    "attn_impl": ("flash_attn", "sdpa", "eager"),
    "init_weights": ("true", "pissa", "pissa_niter_16", "olora", "loftq", "lora-ga"),
    "loss_scale": ("default", "last_round", "all", "ignore_empty_think"),
}
"""Values that ms-swift's list leaves open; others can be typed."""


@cache
def argument(name: str) -> Argument:
    """The argument behind a field, from the first command that has it."""
    for command in ("sft", "rlhf", "megatron sft"):
        if name in (known := catalogue.arguments(command)):
            return known[name]
    raise KeyError(name)


def is_shown(name: str, task: str, method: str, strategy: str = "auto") -> bool:
    """Whether a field has a meaning for a task (sft, dpo …) with a method (lora, full, qlora) under a strategy."""
    if name in MEGATRON_SIZES:
        return strategy == "megatron"
    if name in PROCESSES:
        return strategy != "megatron"
    if name in TASK:
        fits = METHODS[task].reference and method == "full" and task != "grpo"
        return fits if name == "ref_model" else name in METHODS[task].fields
    if method == "full":
        return name in FULL_FIELDS
    return name in LORA_FIELDS or (method == "qlora" and name in QLORA_FIELDS)


def widget(name: str, shown: bool = True, value: str = "") -> Any:
    """The widget of a field: a list of choices, a switch with a default, or text.

    No number field: an empty gr.Number turns into 0 as soon as its accordion is opened.
    """
    described = argument(name)
    common: dict[str, Any] = {
        "label": t(f"field.{name}"), "info": t(f"field.info.{name}") if f"field.info.{name}" in WORDS else None,
        "elem_id": f"train-{name.replace('_', '-')}", "min_width": 130, "visible": shown,
    }  # fmt: skip
    default = [(t("field.default"), "")]
    if described.type == "bool":
        return gr.Dropdown([*default, (t("field.on"), "true"), (t("field.off"), "false")], value=value, **common)
    if name in SUGGESTED:
        return gr.Dropdown([*default, *((one, one) for one in SUGGESTED[name])], value=value, allow_custom_value=True,
                           **common)  # fmt: skip
    if described.choices is not None:
        return gr.Dropdown([*default, *((str(one), str(one)) for one in described.choices)], value=value, **common)
    placeholder = "" if described.default in (None, "", -1) else _shown(described.default)
    return gr.Textbox(value, placeholder=placeholder, lines=2 if name in LONG else 1, **common)


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return f"{value:g}".replace("e-0", "e-") if isinstance(value, float) else str(value)


def as_text(name: str, value: Any) -> str:
    """What the widget of ``name`` holds for a spec's value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return shlex.join(map(str, value))
    return _shown(value)


def as_value(name: str, text: str) -> Any:
    """What a spec holds for a widget's text. Raises ValueError for a quote that does not end."""
    return shlex.split(text) if argument(name).type.startswith("list[") else text
