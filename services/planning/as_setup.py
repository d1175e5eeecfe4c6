"""From ms-swift's arguments to a Setup: the numbers that memory and speed depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from services.models.facts import ModelFacts
from services.planning.setup import Attention, Dtype, Hardware, Setup
from services.swift.argument import words
from services.swift.methods import GENERATIONS, MEGATRON, method_of

FLASH = ("flash_attn", "flash_attention_2", "flash_attention_3", "flash_attention_4")
"""What ms-swift takes as a flash attention (SftArguments._check_padding_free, ms-swift 4.6)."""
TUNERS_OF_MEGATRON = "full"
"""The default of ``megatron``'s tuner_type; that of ``swift`` is lora."""


def is_megatron(command: str) -> bool:
    return command.startswith(MEGATRON)


def number(settings: Mapping[str, Any], *names: str, default: int = 1) -> int:
    """The first of ``names`` that is set to something other than 0, as a whole number."""
    for name in names:
        if settings.get(name):
            return int(settings[name])
    return default


def setup_of(
    command: str,
    settings: Mapping[str, Any],
    strategy: str,
    processes: int,
    hardware: Hardware,
    facts: ModelFacts | None,
) -> Setup:
    """The Setup that ``settings`` (what ms-swift is given) come to with ``processes`` ranks in all."""
    megatron = is_megatron(command)
    method = method_of(command, settings)
    tuner = str(settings.get("tuner_type") or (TUNERS_OF_MEGATRON if megatron else "lora"))
    parallel = {
        "tensor_parallel": number(settings, "tensor_model_parallel_size"),
        "pipeline_parallel": number(settings, "pipeline_model_parallel_size"),
        "expert_parallel": number(settings, "expert_model_parallel_size"),
        "context_parallel": number(settings, "context_parallel_size"),
    }
    batch = number(settings, "micro_batch_size", "per_device_train_batch_size")
    in_vllm = bool(settings.get("use_vllm")) and settings.get("vllm_mode") == "colocate"
    setup = Setup(
        command=command,
        rlhf_type=method.rlhf_type,
        tuner=tuner,
        rank=number(settings, "lora_rank", default=8),
        target_modules=tuple(words(settings.get("target_modules"))) or ("all-linear",),
        trained_share=1 - float(settings.get("freeze_parameters_ratio") or 0) if tuner == "full" else 1.0,
        quant_method=settings.get("quant_method"),
        quant_bits=_quant_bits(settings),
        strategy=strategy,
        processes=processes,
        cards=cards_used(strategy, processes, hardware),
        **parallel,
        sequence_parallel=number(settings, "sequence_parallel_size"),
        batch=batch,
        accumulation=number(settings, "gradient_accumulation_steps"),
        length=number(settings, "max_length", default=2048),
        packing=bool(settings.get("packing")),
        padding_free=bool(settings.get("padding_free", megatron)),
        liger=bool(settings.get("use_liger_kernel")),
        checkpointing=_checkpointing(settings, strategy, megatron),
        attention=_attention(settings, megatron),
        dtype=dtype_of(settings, hardware, facts),
        mixed=_mixed(settings, dtype_of(settings, hardware, facts)),
        optimizer=str(settings.get("optim") or settings.get("optimizer") or "adamw_torch_fused"),
        task=str(settings.get("task_type") or "causal_lm"),
        kept_checkpoints=number(settings, "save_total_limit", default=3),
        card_gib=min((gpu.memory_gib for gpu in hardware.gpus), default=0.0),
        generations=number(settings, "num_generations", default=GENERATIONS) if method.name == "grpo" else 0,
        completion_length=number(settings, "max_completion_length", default=512) if method.generates else 0,
        rollout_memory_share=float(settings.get("vllm_gpu_memory_utilization") or 0.9) if in_vllm else 0.0,
        vision=bool(facts and facts.vision_parameters),
    )
    if megatron and settings.get("global_batch_size"):
        rows = int(settings["global_batch_size"]) // max(1, batch * setup.copies)
        return replace(setup, accumulation=max(1, rows))
    return setup


def rows_a_step(setup: Setup) -> int:
    """Rows that one optimizer step learns from; ranks that share a row count once."""
    return max(1, setup.batch * setup.accumulation * setup.copies // setup.sequence_parallel)


def cards_used(strategy: str, processes: int, hardware: Hardware) -> int:
    """Cards in all: one a rank, or every one where ranks spread over several."""
    if hardware.on_cpu:
        return 0
    every = len(hardware.gpus) * hardware.nodes
    return every if strategy in ("device_map", "ddp+device_map") else min(processes, every)


def _checkpointing(settings: Mapping[str, Any], strategy: str, megatron: bool) -> bool:
    if megatron:
        return settings.get("recompute_granularity") == "full"
    if strategy == "fsdp2":  # activation_checkpointing of ms-swift's own fsdp2.json
        return not isinstance(settings.get("fsdp"), dict) or bool(
            (settings["fsdp"].get("fsdp_config") or {}).get("activation_checkpointing")
        )
    return bool(settings.get("gradient_checkpointing", True))


def _attention(settings: Mapping[str, Any], megatron: bool) -> Attention:
    usual = "flash" if megatron else "sdpa"
    given = str(settings.get("attn_impl") or settings.get("attention_backend") or usual)
    if given in FLASH or given == "flash":
        return "flash_attn"
    return "eager" if given == "eager" else "sdpa"


def dtype_of(settings: Mapping[str, Any], hardware: Hardware, facts: ModelFacts | None) -> Dtype:
    """The dtype of the weights: as set, else as stored (ms-swift's own choice), else what the cards are made for."""
    told = settings.get("torch_dtype") or (facts.dtype if facts else None)
    if told in ("bfloat16", "float16", "float32"):
        return cast(Dtype, told)
    return "float32" if hardware.on_cpu else "bfloat16"


def _mixed(settings: Mapping[str, Any], dtype: Dtype) -> bool:
    """``fp16`` and ``bf16`` follow the dtype where they are not set (ModelArguments._init_mixed_precision)."""
    fp16, bf16 = (settings.get(name) for name in ("fp16", "bf16"))
    return bool(dtype != "bfloat16" if fp16 is None else fp16) or bool(dtype == "bfloat16" if bf16 is None else bf16)


def _quant_bits(settings: Mapping[str, Any]) -> int | None:
    bits = settings.get("quant_bits")
    return int(bits) if isinstance(bits, int | str) and str(bits).isdigit() else None
