"""Every way worth trying to train a spec on some hardware, as complete settings for ms-swift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from services.models.facts import ModelFacts
from services.planning.as_setup import FLASH, is_megatron
from services.planning.rules.methods import flash_reason
from services.planning.setup import Hardware
from services.planning.speed import LONG
from services.swift.methods import MEGATRON_RLHF, PACKS, SPLITS_SEQUENCES, least_batch, method_of, method_settings

ROWS_A_STEP = 16
"""What the total batch aims at on cards (ms-swift's own default, TrainArgumentsMixin.__post_init__)."""
ROWS_A_STEP_ON_CPU = 4
LENGTH, LENGTH_ON_CPU = 2048, 512
SMALL_BYTES = 1 << 30
"""A model that takes less learns at a higher rate."""
CHECKPOINTS_KEPT = 3
LIGER_TYPES = frozenset({
    "gemma", "gemma2", "gemma3_text", "glm4", "granite", "llama", "mistral", "mixtral", "olmo2", "phi3", "qwen2",
    "qwen3", "qwen3_moe",
})  # fmt: skip
"""model_type of config.json for which Liger has kernels for text (liger-kernel 0.6, MODEL_TYPE_TO_APPLY_LIGER_FN)."""
UNPACKED_BY_MEGATRON = ("fp8", "mxfp4")
"""Quantizations of a stored model that its loader turns into bfloat16; of others it knows nothing."""
SPLITS_ROWS = ("ddp", "zero0", "zero1", "zero2", "zero3", "zero2_offload", "zero3_offload")
"""Strategies under which ms-swift's own examples split sequences."""


LONG_ENOUGH_FOR_BF16 = 100
"""Mean tokens of a row from which a CPU gains by bfloat16."""


@dataclass(frozen=True)
class Wish:
    """What is to be planned: the person's arguments, and where."""

    command: str
    args: Mapping[str, Any]
    facts: ModelFacts | None
    hardware: Hardware
    packages: frozenset[str]
    strategy: str | None = None
    """The one the person named."""
    processes: int | None = None
    """Ranks a machine, where the person said how many."""
    tokens: int = 512
    """Mean tokens of a row."""

    @property
    def full(self) -> bool:
        return self.args.get("tuner_type") == "full" or (is_megatron(self.command) and "tuner_type" not in self.args)

    @property
    def cards(self) -> int:
        return len(self.hardware.gpus) * self.hardware.nodes

    @property
    def length(self) -> int:
        """max_length: as given, else as much as is usual and the model takes."""
        given = self.args.get("max_length")
        if isinstance(given, int | float) and given > 0:
            return int(given)
        return usual_length(self.hardware.on_cpu, self.facts)

    @property
    def flash(self) -> bool:
        """Flash attention can be used and nothing else was asked for."""
        given = self.args.get("attn_impl")
        return (given is None or given in FLASH) and flash_reason(self.hardware, self.packages) is None

    @property
    def plain_text(self) -> bool:
        return not (self.facts and self.facts.vision_parameters)


def usual_length(on_cpu: bool, facts: ModelFacts | None) -> int:
    """max_length where none is given: as much as is usual, and no more than the model takes."""
    usual = LENGTH_ON_CPU if on_cpu else LENGTH
    most = facts.max_positions if facts else None
    return min(usual, most) if most else usual


@dataclass(frozen=True)
class Variation:
    """One combination of what is tried."""

    strategy: str
    ranks: int
    """On each machine."""
    checkpointing: bool = True
    sequence: int = 1
    quantized: bool = False
    halved: bool = False
    """All weights trained in bfloat16, without a float32 copy."""
    tensor: int = 1
    pipeline: int = 1
    experts: int = 1
    context: int = 1


def strategies(wish: Wish) -> list[str]:
    """The strategies worth trying, each once."""
    if is_megatron(wish.command):
        return ["megatron"]
    if wish.strategy is not None:
        return [wish.strategy]
    if wish.hardware.on_cpu:
        return ["single" if (wish.processes or 1) * wish.hardware.nodes == 1 else "ddp"]
    if wish.cards == 1:
        return ["single" if (wish.processes or 1) == 1 else "ddp"]
    if wish.processes == 1 and wish.hardware.nodes == 1:
        return ["single"]
    if wish.facts is None:  # what may be large is sharded
        return ["zero3" if wish.full else "zero2"]
    mixture = wish.facts.experts > 0 and suits_megatron(wish)
    return ["zero2", "fsdp2", "ddp", "zero3", *(["megatron"] if mixture else [])]


def rescues(wish: Wish) -> list[list[str]]:
    """What is tried, one list after the other, when nothing else fits: a dense model split by Megatron, states and
    weights on the host at the cost of much time, and the model spread over cards of which one computes at a time."""
    if wish.hardware.on_cpu or wish.strategy is not None or is_megatron(wish.command):
        return []
    megatron = suits_megatron(wish) and wish.processes != 1 and wish.cards > 1
    offload = wish.hardware.has_cxx_compiler
    spread = wish.cards > 1 and wish.processes in (None, 1)
    return [
        ["megatron"] if megatron and wish.facts is not None and not wish.facts.experts else [],
        ["zero2_offload", "zero3_offload"] if offload else [],
        ["device_map"] if spread and not wish.full else [],  # which would keep all states of a full training in bf16
    ]


def halves(wish: Wish) -> bool:
    """All weights can be trained in bfloat16 alone, split over the cards, as ms-swift does it on one card."""
    bf16 = all(gpu.has_bf16 for gpu in wish.hardware.gpus) and wish.args.get("torch_dtype") in (None, "bfloat16")
    open_ = not any(wish.args.get(name) for name in ("bf16", "fp16", "deepspeed")) and wish.processes != 1
    named = wish.strategy in (None, "fsdp2") and not is_megatron(wish.command)
    return wish.full and bf16 and open_ and named and wish.cards > 1 and wish.facts is not None


def suits_megatron(wish: Wish) -> bool:
    """Megatron is there, and has what is asked for."""
    method = method_of(wish.command, wish.args)
    nvidia = all(gpu.kind == "gpu" and gpu.has_bf16 for gpu in wish.hardware.gpus)
    known = method.command in ("sft", "pt") or method.name in MEGATRON_RLHF
    tuner = wish.args.get("tuner_type", "lora") in ("lora", "full")
    sharded = wish.args.get("deepspeed") or wish.args.get("fsdp") or wish.args.get("quant_method")
    readable = wish.facts is not None and wish.facts.quant_method in (None, *UNPACKED_BY_MEGATRON)
    return nvidia and known and tuner and readable and not sharded and "megatron" in wish.packages


def variations(
    wish: Wish, strategy: str, quantized: bool = False, halved: bool = False
) -> Iterator[Variation]:  # fmt: skip
    """All that is tried under ``strategy``; the batch is tried separately."""
    ranks = ranks_of(wish, strategy)
    if strategy == "megatron":
        yield from _megatron_variations(wish, ranks)
        return
    for sequence in _sequence_sizes(wish, strategy, ranks):
        for checkpointing in _checkpointing_choices(wish, strategy):
            yield Variation(strategy, ranks, checkpointing, sequence, quantized, halved)


def ranks_of(wish: Wish, strategy: str) -> int:
    """Ranks on a machine: as asked, one where one spreads over the cards, else one a card."""
    if wish.processes is not None:
        return wish.processes
    return 1 if strategy in ("single", "device_map") else max(1, len(wish.hardware.gpus))


def _checkpointing_choices(wish: Wish, strategy: str) -> list[bool]:
    given = wish.args.get("gradient_checkpointing")
    if strategy == "fsdp2":
        return [True]  # its own, by ms-swift's fsdp2.json
    if isinstance(given, bool):
        return [given]
    return [True] if wish.facts is None else [False, True]


def _sequence_sizes(wish: Wish, strategy: str, ranks: int) -> list[int]:
    given = wish.args.get("sequence_parallel_size")
    if given is not None:
        return [int(given)]
    method = method_of(wish.command, wish.args)
    able = method.rlhf_type is None or method.name in SPLITS_SEQUENCES
    if not able or wish.facts is None or wish.length < LONG or wish.cards < 2 or wish.strategy is not None:
        return [1]
    if strategy not in SPLITS_ROWS or ranks < 2:
        return []  # long rows are split where they can be
    world = ranks * wish.hardware.nodes  # within a machine: all of a row goes around at every layer
    return [size for size in (2, 4, 8, 16, 32) if size <= ranks and world % size == 0] or [1]


def _megatron_variations(wish: Wish, ranks: int) -> Iterator[Variation]:
    """TP within a machine, PP, CP for long rows, EP: what divides heads, layers, experts and ranks."""
    facts, world = wish.facts, ranks * wish.hardware.nodes
    if facts is None:
        given = _given_sizes(wish)
        yield Variation("megatron", ranks, tensor=given.get("tensor", 1), pipeline=given.get("pipeline", 1),
                        experts=given.get("experts", 1), context=given.get("context", 1))  # fmt: skip
        return
    given = _given_sizes(wish)
    heads = facts.key_value_heads or facts.heads or 1
    for tensor in given_or(given, "tensor", [size for size in _twos(min(ranks, 8)) if heads % size == 0]):
        for pipeline in given_or(given, "pipeline", [size for size in _twos(world) if facts.layers % size == 0]):
            for context in given_or(given, "context", _twos(world) if wish.length >= LONG else [1]):
                if world % (tensor * pipeline * context):
                    continue
                most = [n for n in _twos(facts.experts or 1) if not facts.experts % n and world // pipeline % n == 0]
                for experts in given_or(given, "experts", most):
                    for again in (False, True):
                        yield Variation("megatron", ranks, again, tensor=tensor, pipeline=pipeline, experts=experts,
                                        context=context)  # fmt: skip


def given_or(given: Mapping[str, int], name: str, others: list[int]) -> list[int]:
    return [given[name]] if name in given else others


def _given_sizes(wish: Wish) -> dict[str, int]:
    names = {"tensor_model_parallel_size": "tensor", "pipeline_model_parallel_size": "pipeline",
             "expert_model_parallel_size": "experts", "context_parallel_size": "context"}  # fmt: skip
    return {ours: int(wish.args[name]) for name, ours in names.items() if wish.args.get(name)}


def _twos(most: int) -> list[int]:
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most]


def batches(wish: Wish, variation: Variation) -> list[int]:
    """Rows a rank that are tried, the most first."""
    given = wish.args.get("micro_batch_size" if is_megatron(wish.command) else "per_device_train_batch_size")
    if given is not None:
        return [int(given)]
    least = least_batch(wish.command, wish.args)
    if wish.facts is None:
        return [max(least, ROWS_A_STEP_ON_CPU if wish.hardware.on_cpu else 1)]
    copies = max(1, copies_of(wish, variation))
    most = ROWS_A_STEP_ON_CPU if wish.hardware.on_cpu else max(least, ROWS_A_STEP // copies)
    return [size for size in (16, 8, 4, 2, 1) if least <= size <= most] or [least]


def copies_of(wish: Wish, variation: Variation) -> int:
    """Ranks that see different rows."""
    world = variation.ranks * wish.hardware.nodes
    return world // (variation.sequence * variation.tensor * variation.pipeline * variation.context)


def settings_of(wish: Wish, variation: Variation, batch: int) -> dict[str, Any]:
    """All arguments of ``swift`` that ``variation`` comes to, the person's over TuneDesk's."""
    on_cpu = wish.hardware.on_cpu
    small = wish.facts is not None and wish.facts.bytes < SMALL_BYTES
    target = batch if on_cpu else ROWS_A_STEP
    padding_free = _padding_free(wish, variation, batch)
    planned: dict[str, Any] = {
        "num_train_epochs": 1.0,
        "per_device_train_batch_size": batch,
        "gradient_accumulation_steps": max(1, target // (batch * max(1, copies_of(wish, variation)))),
        "max_length": wish.length,
        "gradient_checkpointing": False if variation.strategy == "fsdp2" else variation.checkpointing,
        "save_total_limit": CHECKPOINTS_KEPT,
        "dataloader_num_workers": 0 if on_cpu else workers(wish, variation),
        **(_on_cpu(wish, variation) if on_cpu else {}),
        **({"quant_method": "bnb", "quant_bits": 4} if variation.quantized else {}),
        **({"torch_dtype": "bfloat16", "bf16": False, "fp16": False} if variation.halved else {}),
        **({"attn_impl": "flash_attn"} if wish.flash else {}),
        **({"padding_free": True} if padding_free else {}),
        **({"sequence_parallel_size": variation.sequence} if variation.sequence > 1 else {}),
        **({"use_liger_kernel": True} if _liger(wish, variation) else {}),
        **_sharding(wish, variation.strategy),
    }
    if not on_cpu and wish.facts is not None and wish.facts.dtype == "float32":
        planned["torch_dtype"] = "bfloat16"
    methods = method_settings({**planned, **wish.args}, wish.command, on_cpu, small)
    return {**methods, **planned, **wish.args}


def _on_cpu(wish: Wish, variation: Variation) -> dict[str, Any]:
    """float32, unless the CPU has instructions for bfloat16 and rows are long enough to gain by it: rows of 112 tokens
    took 17.1 s against 20.6 s, rows of 54 the same (measured on two cores). For an adapter only, whose own weights
    stay float32; several ranks on a CPU were tried in float32."""
    asked = wish.args.get("torch_dtype")
    able = wish.hardware.has_bf16 and variation.strategy == "single" and not wish.full
    gains = wish.tokens >= LONG_ENOUGH_FOR_BF16 and wish.facts is not None and wish.facts.dtype == "bfloat16"
    half = asked == "bfloat16" if asked else able and gains
    return {"torch_dtype": "bfloat16" if half else "float32", "use_cpu": True, "fp16": False, "bf16": half}


def _sharding(wish: Wish, strategy: str) -> dict[str, Any]:
    if strategy.startswith("zero") and "deepspeed" not in wish.args:
        return {"deepspeed": strategy}
    return {"fsdp": "fsdp2"} if strategy == "fsdp2" and "fsdp" not in wish.args else {}


def _packs(wish: Wish) -> bool:
    method = method_of(wish.command, wish.args)
    return (method.rlhf_type is None or method.name in PACKS) and wish.plain_text


def _padding_free(wish: Wish, variation: Variation, batch: int) -> bool:
    """Rows of a batch one behind the other instead of padded; also what a ring of long rows needs."""
    open_ = "padding_free" not in wish.args and "packing" not in wish.args
    return open_ and wish.flash and _packs(wish) and (batch > 1 or variation.sequence > 1)


def _liger(wish: Wish, variation: Variation) -> bool:
    able = wish.facts is not None and wish.facts.model_type in LIGER_TYPES and wish.command in ("sft", "pt")
    here = "liger_kernel" in wish.packages and any(gpu.kind == "gpu" for gpu in wish.hardware.gpus)
    spread = variation.strategy in ("device_map", "ddp+device_map")
    return able and here and not spread and variation.sequence == 1 and "use_liger_kernel" not in wish.args


def workers(wish: Wish, variation: Variation) -> int:
    """Loading processes a rank: two cores a rank stay for the training itself."""
    return max(1, min(4, wish.hardware.cores // max(1, variation.ranks) - 2))
