"""One model under one setup: the figures that all parts of the memory estimate share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from services.models.facts import ModelFacts
from services.planning.setup import Setup

WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Bytes of a number."""
LINEAR_TUNERS = ("lora", "longlora", "adalora", "dora", "llamapro")
PAIRS = ("dpo", "orpo", "cpo", "simpo", "rm")
"""Methods whose every row is an accepted and a rejected answer."""
WITH_REFERENCE = ("dpo", "kto", "grpo", "ppo")
"""Methods that compare with the model as it was: with an adapter that is switched off, else with a copy."""
NO_LOGITS = ("rm",)
SMALL_TUNERS = {"boft": 1.0, "bone": 1.0, "vera": 0.02, "fourierft": 0.01, "ia3": 0.01, "reft": 0.05,
                "prompt": 0.001, "adapter": 1.0}  # fmt: skip
"""Other tuners' parameters as a share of a LoRA's of the same rank; an order of magnitude."""


@dataclass(frozen=True)
class Case:
    """``facts`` trained as ``setup`` says, with rows of ``tokens`` tokens."""

    facts: ModelFacts
    setup: Setup
    tokens: int

    @cached_property
    def width(self) -> int:
        """Bytes of a number in the weights as loaded."""
        return WIDTHS[self.setup.dtype]

    @property
    def full(self) -> bool:
        return self.setup.tuner == "full"

    @property
    def on_cpu(self) -> bool:
        return self.setup.cards == 0

    @property
    def zero(self) -> int | None:
        """DeepSpeed's stage; None: without DeepSpeed."""
        return int(self.setup.strategy[4]) if self.setup.strategy.startswith("zero") else None

    @property
    def offload(self) -> bool:
        return self.setup.strategy.endswith("_offload")

    @property
    def fsdp(self) -> bool:
        return self.setup.strategy == "fsdp2"

    @property
    def megatron(self) -> bool:
        return self.setup.strategy == "megatron"

    @property
    def model_split(self) -> int:
        """Cards that hold one copy of the model: by layers (device_map), or as Megatron splits it."""
        if self.setup.strategy in ("device_map", "ddp+device_map"):
            return max(1, self.setup.cards // self.setup.processes)
        return self.setup.tensor_parallel * self.setup.pipeline_parallel

    @property
    def sharders(self) -> int:
        """Ranks that share what ZeRO, FSDP2 or Megatron's distributed optimizer shards."""
        return max(1, self.setup.processes // self.model_split) if self.megatron else self.setup.processes

    @cached_property
    def resident(self) -> int:
        """Parameters of the model one card holds, before ZeRO or FSDP2 shard them."""
        experts = self.facts.expert_parameters
        if not self.megatron:
            return self.facts.parameters // self.model_split
        dense = (self.facts.parameters - experts) // self.model_split
        return dense + experts // (self.setup.expert_parallel * self.setup.pipeline_parallel)

    @cached_property
    def adapter(self) -> int:
        """Parameters added to the model."""
        if self.full:
            return 0
        if self.setup.tuner == "llamapro":  # four new blocks, each a copy of a layer
            return 4 * self.layer_parameters
        lora = self.facts.lora_parameters(self.setup.rank, self.setup.target_modules)
        if self.setup.tuner == "adalora":  # starts with one and a half times the rank
            lora = lora * 3 // 2
        return int(lora * SMALL_TUNERS.get(self.setup.tuner, 1.0)) // self.model_split

    @cached_property
    def trained(self) -> int:
        """Parameters one card would train, before anything is sharded."""
        if not self.full:
            return self.adapter
        language = self.facts.parameters - self.facts.vision_parameters
        return int(self.resident * language / self.facts.parameters * self.setup.trained_share)

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer (experts included), their mean."""
        rest = self.facts.parameters - self.facts.embedding_parameters - self.facts.vision_parameters
        return rest // max(1, self.facts.layers)

    @cached_property
    def row_tokens(self) -> int:
        """Tokens of the longest row: packed rows are always full."""
        row = self.setup.length if self.setup.packing else min(self.tokens, self.setup.length)
        return row + (self.setup.completion_length if self.setup.rlhf_type == "grpo" else 0)

    @cached_property
    def step_tokens(self) -> int:
        """Tokens that one card computes at a time. A pair's two answers go through the model together; packed rows
        hold whole pairs within the length."""
        tokens = self.setup.batch * self.row_tokens
        if self.setup.rlhf_type in PAIRS and not self.setup.packing:
            tokens *= 2
        return -(-tokens // (self.setup.sequence_parallel * self.setup.context_parallel))

    @property
    def pads(self) -> bool:
        """Rows of a batch are filled up to the longest."""
        rows = self.setup.batch * (2 if self.setup.rlhf_type in PAIRS else 1)
        return rows > 1 and not (self.setup.packing or self.setup.padding_free)

    @property
    def has_logits(self) -> bool:
        return self.setup.task == "causal_lm" and self.setup.rlhf_type not in NO_LOGITS
