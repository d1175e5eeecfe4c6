"""What others state and what was measured of trainings' memory: the facts that the estimate is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from services.models.facts import ModelFacts, facts_of
from services.planning.setup import Setup
from tests.bench.random_model import SHAPES


def qwen2(
    hidden: int, layers: int, heads: int, keys: int, intermediate: int, vocabulary: int, tied: bool
) -> ModelFacts:
    """The facts of a Qwen2.5 model from its sizes."""
    config: dict[str, Any] = {
        "model_type": "qwen2", "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": keys, "intermediate_size": intermediate, "vocab_size": vocabulary,
        "tie_word_embeddings": tied, "torch_dtype": "bfloat16",
    }  # fmt: skip
    facts = facts_of(config)
    assert facts is not None
    return facts


HALF_B = qwen2(896, 24, 14, 2, 4864, 151936, True)
THREE_B = qwen2(2048, 36, 16, 2, 11008, 151936, True)
SEVEN_B = qwen2(3584, 28, 28, 4, 18944, 152064, False)
THIRTY_TWO_B = qwen2(5120, 64, 40, 8, 27648, 152064, False)


@dataclass(frozen=True)
class Stated:
    """A figure that ms-swift's authors write beside a command of theirs; GiB a card."""

    what: str
    facts: ModelFacts
    setup: Setup
    gib: float

    @property
    def is_a_limit(self) -> bool:
        """They say of these only that they fit a card of 80 GiB."""
        return self.gib == 80.0


def _lora(**changes: Any) -> Setup:
    return Setup(**{"accumulation": 16, "optimizer": "adamw_torch", **changes})


def _full(**changes: Any) -> Setup:
    packed = {"tuner": "full", "accumulation": 4, "length": 8192, "packing": True, "liger": True,
              "attention": "flash_attn", "optimizer": "adamw_torch"}  # fmt: skip
    return Setup(**{**packed, **changes})


def _cards(strategy: str, count: int) -> dict[str, Any]:
    return {"strategy": strategy, "processes": count, "cards": count}


# They were taken with torch before 2.8, whose AdamW is not fused by default (adamw_torch).
STATED = (
    Stated("3B full, packed", THREE_B, _full(), 35.0),
    Stated("7B full, packed, ZeRO-3 on 4", SEVEN_B, _full(**_cards("zero3", 4)), 42.0),
    Stated("7B full DPO, packed, ZeRO-3 on 4", SEVEN_B,
           _full(command="rlhf", rlhf_type="dpo", liger=False, **_cards("zero3", 4)), 50.0),
    Stated("32B full, packed, ZeRO-3 on 8", THIRTY_TWO_B, _full(**_cards("zero3", 8)), 80.0),
    Stated("32B LoRA, 512,000 tokens over 8, ZeRO-3 offloaded", THIRTY_TWO_B,
           _full(tuner="lora", length=512_000, sequence_parallel=8, **_cards("zero3_offload", 8)), 80.0),
    Stated("3B LoRA", THREE_B, _lora(), 22.0),
    Stated("7B LoRA", SEVEN_B, _lora(), 22.0),
    Stated("7B LoRA, DDP on 2", SEVEN_B, _lora(**_cards("ddp", 2)), 27.5),
    Stated("7B LoRA, ZeRO-2 on 2", SEVEN_B, _lora(**_cards("zero2", 2)), 18.0),
    Stated("7B LoRA, 16 rows without padding, ZeRO-2 on 4", SEVEN_B,
           _lora(batch=16, rank=16, padding_free=True, attention="flash_attn", **_cards("zero2", 4)), 26.0),
    Stated("7B full, 8 rows without padding, ZeRO-3 on 4", SEVEN_B,
           _full(batch=8, packing=False, padding_free=True, **_cards("zero3", 4)), 60.0),
    Stated("7B QLoRA", SEVEN_B, _lora(quant_method="bnb", quant_bits=4), 10.0),
    Stated("7B LoRA DPO", SEVEN_B, _lora(command="rlhf", rlhf_type="dpo"), 24.0),
    Stated("0.5B LoRA, classification, 16 rows", HALF_B, _lora(batch=16, task="seq_cls"), 2.0),
    Stated("7B AdaLoRA", SEVEN_B, _lora(tuner="adalora"), 17.0),
    Stated("7B BOFT", SEVEN_B, _lora(tuner="boft"), 17.0),
    Stated("7B LoRA, a tuner's example", SEVEN_B, _lora(), 17.2),
    Stated("7B LoRA, another tuner's example", SEVEN_B, _lora(), 17.0),
    Stated("7B LoRA, a third tuner's example", SEVEN_B, _lora(), 17.0),
    Stated("7B LISA: embeddings and 2 layers at a time", SEVEN_B, _lora(tuner="full", trained_share=0.204), 35.0),
    Stated("7B LLaMA-Pro", SEVEN_B, _lora(tuner="llamapro"), 25.4),
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """The peak resident memory of a training on a CPU, in GiB, as tests/bench/memory.py measures it."""

    model: str
    tuner: str
    batch: int
    tokens: int
    gib: float = 0.0

    @property
    def facts(self) -> ModelFacts:
        facts = facts_of(SHAPES[self.model].config)
        assert facts is not None
        return facts

    @property
    def setup(self) -> Setup:
        """What TuneDesk plans for it on a CPU."""
        return Setup(tuner=self.tuner, cards=0, batch=self.batch, length=self.tokens, checkpointing=False,
                     dtype="float32")  # fmt: skip


MEASURED_ON = "2026-11-30, 2 cores (AMD EPYC, AVX512), torch 2.13 CPU, ms-swift 4.6.0, transformers 5.19, peft 0.20"
MEASURED = (
    Measured("30M", "lora", 1, 512, 1.446),
    Measured("30M", "lora", 4, 512, 3.373),
    Measured("30M", "full", 1, 512, 1.479),
    Measured("30M", "full", 4, 512, 2.901),
    Measured("135M", "lora", 1, 512, 3.032),
    Measured("135M", "lora", 4, 512, 8.419),
    Measured("135M", "full", 1, 512, 3.571),
)
NOT_YET_MEASURED = (
    Measured("135M", "full", 4, 512),
    Measured("360M", "lora", 1, 256),
    Measured("360M", "lora", 4, 256),
    Measured("360M", "full", 1, 256),
    Measured("360M", "full", 4, 256),
)
"""What the bench also runs; write its figures above when they are taken on a quiet machine."""
