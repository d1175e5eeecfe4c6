"""What ``megatron`` calls ``swift``'s arguments, and what it needs besides (ms-swift 4.6, MegatronArguments)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from services.errors import Refused
from services.planning.as_setup import is_megatron
from services.planning.candidates import CHECKPOINTS_KEPT, ROWS_A_STEP, Variation, Wish, copies_of
from services.swift import catalogue
from services.swift.methods import MEGATRON, method_settings

RENAMED = {
    "adam_epsilon": "adam_eps",
    "learning_rate": "lr",
    "max_grad_norm": "clip_grad",
    "max_steps": "train_iters",
    "per_device_train_batch_size": "micro_batch_size",
    "warmup_ratio": "lr_warmup_fraction",
    "warmup_steps": "lr_warmup_iters",
}
SAID_OTHERWISE = (
    "gradient_checkpointing", "gradient_accumulation_steps", "attn_impl", "bf16", "fp16", "use_liger_kernel",
    "padding_free", "per_device_eval_batch_size", "optim", "gradient_checkpointing_kwargs",
)  # fmt: skip
"""Arguments of ``swift`` for which Megatron has its own way; taken into account, not passed on."""


def megatron_command(command: str) -> str:
    return command if is_megatron(command) else MEGATRON + command


def translated(args: Mapping[str, Any], command: str) -> dict[str, Any]:
    """``swift``'s arguments under Megatron's names. Raises Refused("argument_other_command") for one it lacks."""
    if is_megatron(command):
        return dict(args)
    found = {RENAMED.get(name, name): value for name, value in args.items() if name not in SAID_OTHERWISE}
    if found.get("train_iters") == -1:
        del found["train_iters"]
    if "num_train_epochs" in found:
        found["num_train_epochs"] = max(1, math.ceil(float(found["num_train_epochs"])))
    known = known_arguments(megatron_command(command))
    for name in found:
        if known is not None and name not in known:
            swift, megatron = f"swift {command}", megatron_command(command)
            raise Refused("argument_other_command", name=name, command=megatron, others=swift)
    return found


def known_arguments(command: str) -> Mapping[str, Any] | None:
    """The catalogue's arguments of a command; None where it does not have that command."""
    try:
        return catalogue.arguments(command)
    except KeyError:
        return None


def megatron_settings(wish: Wish, variation: Variation, batch: int) -> dict[str, Any]:
    """All arguments of ``megatron`` that ``variation`` comes to, the person's over TuneDesk's."""
    args = translated(wish.args, wish.command)
    tuner = str(args.get("tuner_type") or ("full" if wish.full else "lora"))
    copies = max(1, copies_of(wish, variation))
    accumulation = int(wish.args.get("gradient_accumulation_steps") or math.ceil(ROWS_A_STEP / (batch * copies)))
    planned: dict[str, Any] = {
        "num_train_epochs": 1,
        "micro_batch_size": batch,
        "global_batch_size": batch * copies * max(1, accumulation),
        "max_length": wish.length,
        "tensor_model_parallel_size": variation.tensor,
        "pipeline_model_parallel_size": variation.pipeline,
        **({"expert_model_parallel_size": variation.experts} if variation.experts > 1 else {}),
        **({"context_parallel_size": variation.context} if variation.context > 1 else {}),
        **({"sequence_parallel": True} if variation.tensor > 1 else {}),
        **({"moe_permute_fusion": True} if wish.facts is not None and wish.facts.experts else {}),
        **_recomputing(variation.checkpointing),
        "save_total_limit": CHECKPOINTS_KEPT,
    }
    small = False
    methods = method_settings({**args, "tuner_type": tuner}, megatron_command(wish.command), False, small)
    return {"tuner_type": tuner, **methods, **planned, **args}


def _recomputing(again: bool) -> dict[str, Any]:
    """Every layer computed again, or only the attention's core (Korthikanti et al. 2022)."""
    if again:
        return {"recompute_granularity": "full", "recompute_method": "uniform", "recompute_num_layers": 1}
    return {"recompute_granularity": "selective"}
