"""Rules about sizes that have to divide: sequence parallelism, vLLM's tensor parallelism, Megatron's four."""

from __future__ import annotations

import math

from services.errors import Key
from services.planning.rules.rule import SWIFT, Context, Rule, Values

CORE = "megatron-core 0.14 TransformerConfig.__post_init__"


def _sequence_ranks(context: Context) -> Values | None:
    size, processes = context.setup.sequence_parallel, context.setup.processes
    return {"size": size, "processes": processes} if size > 1 and processes % size else None


def _sequence_ring(context: Context) -> Values | None:
    """What the heads cannot be divided into is a ring, and a ring needs padding_free."""
    size, heads = context.setup.sequence_parallel, _key_value_heads(context)
    if size < 2 or not heads or math.gcd(heads, size) == size:
        return None
    if context.settings.get("padding_free") or context.settings.get("packing"):
        return None
    return {"size": size, "heads": heads, "fitting": _divisors(heads)}


def _key_value_heads(context: Context) -> int | None:
    return (context.facts.key_value_heads or context.facts.heads) if context.facts else None


def _divisors(number: int, most: int = 64) -> str:
    return ", ".join(str(size) for size in range(1, min(number, most) + 1) if number % size == 0)


def _vllm_ranks(context: Context) -> Values | None:
    size, processes = context.whole("vllm_tensor_parallel_size"), context.setup.processes
    inside = context.settings.get("use_vllm") and context.settings.get("vllm_mode") == "colocate"
    return {"size": size, "processes": processes} if inside and processes % size else None


def _vllm_heads(context: Context) -> Values | None:
    size, facts = context.whole("vllm_tensor_parallel_size"), context.facts
    if not context.settings.get("use_vllm") or facts is None or not facts.heads or facts.heads % size == 0:
        return None
    return {"size": size, "heads": facts.heads, "fitting": _divisors(facts.heads)}


def _megatron_ranks(context: Context) -> Values | None:
    setup = context.setup
    size = setup.tensor_parallel * setup.pipeline_parallel * setup.context_parallel
    if not context.megatron or setup.processes % size == 0:
        return None
    return {"size": size, "tp": setup.tensor_parallel, "pp": setup.pipeline_parallel, "cp": setup.context_parallel,
            "processes": setup.processes}  # fmt: skip


def _megatron_divides(context: Context) -> Values | None:
    """Heads by TP, layers by PP, experts by EP; the ranks of a pipeline stage by EP."""
    setup, facts = context.setup, context.facts
    if not context.megatron or facts is None:
        return None
    uneven = any(context.settings.get(name) for name in _UNEVEN_STAGES)
    pairs = [
        ("tensor_model_parallel_size", setup.tensor_parallel, "heads", facts.heads or 0),
        ("tensor_model_parallel_size", setup.tensor_parallel, "key_value_heads", facts.key_value_heads or 0),
        ("pipeline_model_parallel_size", setup.pipeline_parallel, "layers", 0 if uneven else facts.layers),
        ("expert_model_parallel_size", setup.expert_parallel, "experts", facts.experts),
        ("expert_model_parallel_size", setup.expert_parallel, "ranks", setup.processes // setup.pipeline_parallel),
    ]
    for name, size, of, count in pairs:
        if count and count % size:
            counted = Key(f"planning.of.{of}")
            return {"name": name, "size": size, "of": counted, "count": count, "fitting": _divisors(count)}
    return None


_UNEVEN_STAGES = ("decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers",
                  "pipeline_model_parallel_layout")  # fmt: skip


def _experts_of_a_dense_model(context: Context) -> Values | None:
    dense = context.megatron and context.facts is not None and not context.facts.experts
    return {"size": context.setup.expert_parallel} if dense and context.setup.expert_parallel > 1 else None


def _global_batch(context: Context) -> Values | None:
    total = context.whole("global_batch_size", 0)
    step = context.setup.batch * context.setup.copies
    uneven = context.megatron and total and total % step
    return {"total": total, "micro": context.setup.batch, "copies": context.setup.copies} if uneven else None


def _megatron_keeps_one(context: Context) -> Values | None:
    kept = context.settings.get("save_total_limit")
    return {"kept": kept} if context.megatron and isinstance(kept, int) and kept < 2 else None


def _megatron_quantized(context: Context) -> Values | None:
    return {} if context.megatron and context.settings.get("quant_method") else None


RULES = (
    Rule("sequence_ranks", "refused", f"{SWIFT} SequenceParallel._init_device_mesh: the ranks have to fill a mesh of "
         "data x sequence", _sequence_ranks),
    Rule("sequence_heads", "refused", f"{SWIFT} SequenceParallel.prepare raises where the key and value heads do not "
         "divide and padding_free is off", _sequence_ring),
    Rule("vllm_ranks", "refused", f"{SWIFT} rollout_mixin._prepare_rollout_engine raises", _vllm_ranks),
    Rule("vllm_heads", "refused", "vllm ModelConfig.verify_with_parallel_config raises", _vllm_heads),
    Rule("megatron_ranks", "refused", "megatron-core parallel_state.initialize_model_parallel raises", _megatron_ranks),
    Rule("megatron_divides", "refused", f"{CORE} and parallel_state.initialize_model_parallel raise",
         _megatron_divides),
    Rule("megatron_dense", "refused", f"{CORE} raises", _experts_of_a_dense_model),
    Rule("megatron_batch", "refused", f"{SWIFT} MegatronArguments._init_distributed raises", _global_batch),
    Rule("megatron_keeps", "refused", f"{SWIFT} MegatronArguments.__post_init__ raises", _megatron_keeps_one),
    Rule("megatron_quantized", "refused", f"{SWIFT} MegatronArguments has no quantized base for training",
         _megatron_quantized),
)  # fmt: skip
