"""Rules about what is trained and how: the method, quantized bases, precision, attention, kernels."""

from __future__ import annotations

from services.errors import Key
from services.planning.as_setup import FLASH
from services.planning.rules.rule import ACCELERATE, SWIFT, TRANSFORMERS, Context, Rule, Values
from services.planning.setup import Hardware
from services.swift.marks import refuse_unavailable
from services.swift.methods import check_method

GENERATING = ("grpo", "gkd", "ppo")


def _method(context: Context) -> Values | None:
    check_method(context.settings, context.command, context.setup.processes)
    return None


def _unavailable(context: Context) -> Values | None:
    if context.here and not context.megatron:
        refuse_unavailable(context.settings, context.hardware.on_cpu)
    return None


def qlora_reason(hardware: Hardware, packages: frozenset[str], method: str = "bnb") -> str | None:
    """The code why a 4-bit base cannot be trained on here; None: it can."""
    if not any(gpu.kind == "gpu" for gpu in hardware.gpus):
        return "qlora_needs_card"
    return "qlora_needs_package" if method == "bnb" and "bitsandbytes" not in packages else None


def _quantized_impossible(context: Context) -> Values | None:
    method = context.settings.get("quant_method")
    code = qlora_reason(context.hardware, context.packages, str(method)) if method else None
    return {"reason": Key(f"training.reason.{code}")} if code else None


def _quantized(context: Context) -> str | None:
    """The method of quantization, asked for or already in the model's own files."""
    return context.settings.get("quant_method") or (context.facts.quant_method if context.facts else None)


def _full_on_quantized(context: Context) -> Values | None:
    method = _quantized(context)
    return {"method": method} if method and context.setup.tuner == "full" else None


def _quantized_twice(context: Context) -> Values | None:
    stored = context.facts.quant_method if context.facts else None
    given = context.settings.get("quant_method")
    return {"stored": stored, "given": given} if stored and given else None


def _bits_open(context: Context) -> Values | None:
    method, bits = context.settings.get("quant_method"), context.settings.get("quant_bits")
    if method in ("hqq", "eetq", "quanto") and not bits:
        return {"method": method, "bits": "–"}
    return {"method": method, "bits": bits or "–"} if method == "bnb" and str(bits) not in ("4", "8") else None


def _quantized_spread(context: Context) -> Values | None:
    spread = context.setup.strategy == "ddp+device_map" and context.settings.get("quant_method") == "bnb"
    return {} if spread else None


def _quantized_whole(context: Context) -> Values | None:
    """Sharding that leaves the quantized weights whole on each card."""
    method, sharded = _quantized(context), context.stage == 3 or context.fsdp
    floating = "float" in str(context.settings.get("bnb_4bit_quant_storage") or "")
    if not method or not sharded or (context.fsdp and floating):
        return None
    return {"strategy": context.setup.strategy}


def _packs_without_flash(context: Context) -> Values | None:
    if context.megatron:
        return None
    packs = next((name for name in ("packing", "padding_free") if context.settings.get(name)), None)
    given = context.settings.get("attn_impl")
    return {"name": packs, "given": given or "sdpa"} if packs and given not in FLASH else None


def flash_reason(hardware: Hardware, packages: frozenset[str]) -> str | None:
    """The code why flash attention cannot be used; None: it can."""
    if not any(gpu.kind == "gpu" for gpu in hardware.gpus):
        return "flash_needs_card"
    if not all(gpu.has_bf16 for gpu in hardware.gpus):
        return "flash_old_card"
    return None if "flash_attn" in packages else "flash_missing"


def _flash_impossible(context: Context) -> Values | None:
    if context.settings.get("attn_impl") not in FLASH:
        return None
    code = flash_reason(context.hardware, context.packages)
    return {"given": context.settings["attn_impl"], "reason": Key(f"planning.reason.{code}")} if code else None


def _liger_missing(context: Context) -> Values | None:
    return {} if context.settings.get("use_liger_kernel") and "liger_kernel" not in context.packages else None


def _liger_spread(context: Context) -> Values | None:
    return {} if context.settings.get("use_liger_kernel") and context.spread else None


def _liger_grpo(context: Context) -> Values | None:
    if not context.settings.get("use_liger_kernel") or context.setup.rlhf_type != "grpo":
        return None
    clash = "padding_free" if context.settings.get("padding_free") else ""
    clash = "sequence_parallel_size" if context.whole("sequence_parallel_size") > 1 else clash
    return {"name": clash} if clash else None


def _asks_bf16(context: Context) -> bool:
    return context.setup.dtype == "bfloat16" or context.settings.get("bf16") is True


def _cpu_half(context: Context) -> Values | None:
    """Half precision that this CPU only imitates."""
    half = context.setup.dtype != "float32" or any(context.settings.get(name) is True for name in ("fp16", "bf16"))
    slow = context.hardware.on_cpu and half and not (context.hardware.has_bf16 and context.setup.dtype == "bfloat16")
    return {"dtype": context.setup.dtype} if slow else None


def _cards_without_bf16(context: Context) -> Values | None:
    old = next((gpu.name for gpu in context.hardware.gpus if not gpu.has_bf16), None)
    return {"card": old} if old and _asks_bf16(context) else None


def _to_float16(context: Context) -> dict[str, object]:
    """fp16 scales its gradients in float32, so a full training keeps float32 weights (torch.amp.GradScaler)."""
    full = context.setup.tuner == "full"
    return {"torch_dtype": "float32" if full else "float16", "bf16": False, "fp16": True}


def _generates_sharded(context: Context) -> Values | None:
    generates = context.setup.rlhf_type in GENERATING or bool(context.settings.get("predict_with_generate"))
    outside = bool(context.settings.get("use_vllm"))
    return {} if context.stage == 3 and generates and not outside else None


def _experts_sharded(context: Context) -> Values | None:
    sharded = context.stage == 3 or context.fsdp
    experts = context.facts.experts if context.facts else 0
    return {"experts": experts, "strategy": context.setup.strategy} if experts and sharded else None


def _longer_than_made_for(context: Context) -> Values | None:
    most = context.facts.max_positions if context.facts else None
    scaled = context.settings.get("rope_scaling") or context.settings.get("max_model_len")
    too_long = most and context.setup.length > most and not scaled
    return {"length": context.setup.length, "most": most} if too_long else None


def _vllm_missing(context: Context) -> Values | None:
    inside = context.settings.get("use_vllm") and context.settings.get("vllm_mode") == "colocate"
    return {} if inside and "vllm" not in context.packages and not context.megatron else None


def _vllm_spread(context: Context) -> Values | None:
    return {"method": context.setup.rlhf_type} if context.settings.get("use_vllm") and context.spread else None



RULES = (
    Rule("cpu_half", "changed", "half precision without AVX512-BF16 or AMX is imitated, measured at over ten times "
         "slower", _cpu_half, lambda _: {"torch_dtype": "float32", "fp16": False, "bf16": False}),
    Rule("bf16_without", "changed", f"{TRANSFORMERS} TrainingArguments._validate_args raises or imitates it before "
         "Ampere (compute capability 8.0)", _cards_without_bf16, _to_float16),
    Rule("method", "refused", f"{SWIFT} RLHFArguments.__post_init__ and the trainers, each by a code of its own",
         _method),
    Rule("method_impossible", "refused", "bitsandbytes multiplies its 4-bit weights on NVIDIA's cards",
         _quantized_impossible),
    Rule("full_on_quantized", "refused", f"{TRANSFORMERS} trainer_utils.validate_quantization_for_training raises",
         _full_on_quantized),
    Rule("quantized_twice", "refused", f"{TRANSFORMERS} AutoHfQuantizer.merge_quantization_configs keeps the stored "
         "one", _quantized_twice),
    Rule("quant_bits_open", "refused", f"{SWIFT} QuantizeArguments.get_quantization_config raises", _bits_open),
    Rule("quantized_spread", "refused", f"{ACCELERATE} Accelerator.prepare_model raises for a quantized model on "
         "several devices in a distributed run", _quantized_spread),
    Rule("quantized_whole", "warned", f"{TRANSFORMERS} modeling_utils gives quantized weights no zero.Init; "
         f"{ACCELERATE} fsdp2_prepare_model leaves integer Params4bit out of the sharding", _quantized_whole),
    Rule("packing_without_flash", "refused", f"{SWIFT} SftArguments._check_padding_free raises", _packs_without_flash),
    Rule("flash_impossible", "refused", f"{TRANSFORMERS} PreTrainedModel._flash_attn_can_dispatch raises; "
         "FlashAttention-2 is built for Ampere and later", _flash_impossible),
    Rule("liger_missing", "refused", f"{SWIFT} TrainArgumentsMixin._init_liger asserts", _liger_missing),
    Rule("liger_spread", "refused", f"{SWIFT} TrainArgumentsMixin.__post_init__ raises", _liger_spread),
    Rule("liger_grpo", "refused", f"{SWIFT} RLHFArguments._check_grpo raises", _liger_grpo),
    Rule("vllm_not_here", "refused", f"{SWIFT} rollout_mixin._prepare_rollout_engine raises ImportError",
         _vllm_missing),
    Rule("vllm_spread", "refused", f"{SWIFT} RLHFArguments._check_grpo and _check_gkd raise", _vllm_spread),
    Rule("choice_unavailable", "refused", f"tried with {SWIFT} and the versions beside it: services/swift/marks.json",
         _unavailable),
    Rule("zero3_generates", "warned", "under ZeRO-3 every token that is generated gathers all weights again "
         f"({SWIFT} get_gather_if_zero3_context, ds3_gather_for_generation)", _generates_sharded),
    Rule("experts_sharded", "warned", f"{TRANSFORMERS} runs the experts one after the other and gathers each; Megatron "
         "keeps each expert on its card", _experts_sharded),
    Rule("longer_than_made_for", "warned", "max_position_embeddings of the model's config.json", _longer_than_made_for),
)  # fmt: skip
