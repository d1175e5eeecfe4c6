"""Rules about the launch: ranks, cards, and the strategies that a machine or another argument rules out."""

from __future__ import annotations

from pathlib import Path

from services.errors import Key
from services.planning.rules.rule import SWIFT, TRANSFORMERS, Context, Rule, Values
from services.swift.commands import DEEPSPEED

SPREAD = ("device_map", "ddp+device_map")
FOR_CARDS = (*SPREAD, "zero2_offload", "zero3_offload", "megatron")


def reason(context: Context) -> str | None:
    """The code (``training.reason.<code>``) why the setup's strategy cannot run on its hardware."""
    strategy, hardware = context.setup.strategy, context.hardware
    if strategy == "single":
        return None
    if hardware.on_cpu:
        return _reason_on_cpu(context)
    if len(hardware.gpus) * hardware.nodes == 1 and not strategy.startswith("zero"):
        return "one_card"
    if strategy.endswith("_offload") and not hardware.has_cxx_compiler:
        return "needs_gxx"
    if strategy == "megatron" and "megatron" not in context.packages:
        return "megatron_missing"
    return None


def _reason_on_cpu(context: Context) -> str | None:
    strategy, hardware = context.setup.strategy, context.hardware
    if strategy in FOR_CARDS:
        return "no_cards"
    if strategy == "zero3":
        return "zero3_cpu"
    if hardware.cores * hardware.nodes < 2:
        return "one_core"
    if strategy.startswith("zero") and not hardware.has_cxx_compiler:
        return "needs_gxx"
    return None


def _strategy_impossible(context: Context) -> Values | None:
    code = reason(context)
    return {"strategy": context.setup.strategy, "reason": Key(f"training.reason.{code}")} if code else None


def _single(context: Context) -> Values | None:
    several = context.setup.strategy == "single" and context.setup.processes > 1
    return {"processes": context.setup.processes} if several else None


def _more_than_cores(context: Context) -> Values | None:
    each, cores = context.setup.processes // context.hardware.nodes, context.hardware.cores
    return {"processes": each, "cores": cores} if context.hardware.on_cpu and each > cores else None


def _more_than_cards(context: Context) -> Values | None:
    each, cards = context.setup.processes // context.hardware.nodes, len(context.hardware.gpus)
    too_many = not context.hardware.on_cpu and each > cards
    return {"processes": each, "cards": cards} if too_many else None


def _cards_left_over(context: Context) -> Values | None:
    each, cards = context.setup.processes // context.hardware.nodes, len(context.hardware.gpus)
    uneven = context.setup.strategy == "ddp+device_map" and each > 0 and cards % each
    return {"processes": each, "cards": cards, "left": cards % each} if uneven else None


def _both_sharded(context: Context) -> Values | None:
    return {} if context.settings.get("deepspeed") and context.settings.get("fsdp") else None


def _mapped_and_sharded(context: Context) -> Values | None:
    mapped = context.spread or bool(context.settings.get("device_map"))
    if not mapped or not (context.deepspeed or context.fsdp):
        return None
    return {"given": "DeepSpeed" if context.deepspeed else "FSDP"}


def _through_torchrun(context: Context) -> Values | None:
    alone = (context.deepspeed or context.fsdp) and context.setup.processes == 1
    return {"strategy": context.setup.strategy} if alone else None


def _uneven_nodes(context: Context) -> Values | None:
    several = context.hardware.nodes > 1 and not context.here
    return {"nodes": context.hardware.nodes} if several else None


def _unknown_configuration(context: Context) -> Values | None:
    """A name that is neither a preset of ms-swift, a JSON object, nor a file."""
    for name, known in (("deepspeed", DEEPSPEED), ("fsdp", ("fsdp2",)), ("teacher_deepspeed", DEEPSPEED)):
        value = context.settings.get(name)
        plain = isinstance(value, str) and value not in known and not value.lstrip().startswith("{")
        if plain and context.here and not Path(str(value)).is_file():
            return {"name": name, "value": value, "known": ", ".join(known)}
    return None


RULES = (
    Rule("single_needs_one", "refused", f"one process is what the name says; {SWIFT} swift/cli/main.py starts torchrun "
         "for more", _single),
    Rule("more_processes_than_cores", "refused", "ranks that share a core wait for each other at every step",
         _more_than_cores),
    Rule("more_processes_than_cards", "refused", f"{SWIFT} swift/utils/env.py is_mp asserts that the cards divide by "
         "the ranks; NCCL takes no two ranks on a card", _more_than_cards),
    Rule("cards_left_over", "refused", f"{SWIFT} swift/utils/env.py is_mp asserts n_gpu % local_world_size == 0",
         _cards_left_over),
    Rule("strategy_impossible", "refused", "DeepSpeed 0.19.8 zero.Init fails on a CPU before there is a process group, "
         "it builds its CPU ops with a C++ compiler; ms-swift 4.6.0 MegatronArguments imports megatron-core, "
         "mcore-bridge and transformer_engine; the rest is arithmetic", _strategy_impossible),
    Rule("deepspeed_with_fsdp", "refused", f"{SWIFT} SftArguments._init_fsdp and {TRANSFORMERS} Trainer.__init__ raise",
         _both_sharded),
    Rule("device_map_with_sharding", "refused", f"{SWIFT} SftArguments._init_deepspeed and _init_fsdp, {TRANSFORMERS} "
         "check_and_set_device_map raise", _mapped_and_sharded),
    Rule("sharding_configuration", "refused", f"{SWIFT} SftArguments._init_deepspeed and _init_fsdp read it with "
         "json_parse_to_dict, which raises", _unknown_configuration),
    Rule("through_torchrun", "changed", f"{TRANSFORMERS} Trainer.__init__ and DeepSpeed need a process group, so "
         f"NPROC_PER_NODE=1 makes {SWIFT} swift/cli/main.py use torchrun", _through_torchrun),
    Rule("several_nodes", "warned", f"{SWIFT} swift/cli/main.py get_torchrun_args: NNODES, NODE_RANK and MASTER_ADDR "
         "are each machine's own", _uneven_nodes),
)  # fmt: skip
