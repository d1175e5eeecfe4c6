"""The model of speed: what has to be faster than what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.models.facts import facts_of
from services.planning.machine import described
from services.planning.setup import Setup
from services.planning.speed import active_parameters, peak, tokens_per_second

SEVEN = facts_of(
    {"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
     "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064, "torch_dtype": "bfloat16"}
)  # fmt: skip
EXPERTS = facts_of(
    {"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
     "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
     "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936, "torch_dtype": "bfloat16"}
)  # fmt: skip
assert SEVEN is not None and EXPERTS is not None
NVLINK = described({"gpus": [{"name": "A100", "memory_gib": 80, "count": 4}], "link": "nvlink", "host_memory_gib": 512,
                    "cores": 64})  # fmt: skip
PCIE = replace(NVLINK, link="pcie")
BASE = Setup(tuner="full", strategy="zero2", processes=4, cards=4, batch=4, accumulation=1, checkpointing=False)


def speed(hardware: Any = NVLINK, facts: Any = SEVEN, tokens: int = 2048, **changes: Any) -> float:
    return tokens_per_second(facts, replace(BASE, **changes), hardware, tokens)


@pytest.mark.parametrize(
    ("slower", "faster"),
    [
        ({"checkpointing": True}, {"checkpointing": False}),  # activations are computed twice
        ({"tuner": "full"}, {"tuner": "lora"}),  # gradients of all weights
        ({"strategy": "zero3"}, {"strategy": "fsdp2"}),
        ({"strategy": "zero3_offload"}, {"strategy": "zero3"}),
        ({"strategy": "zero3_offload"}, {"strategy": "zero2_offload"}),
        ({"strategy": "device_map", "processes": 1}, {"strategy": "ddp"}),
        ({"batch": 1}, {"batch": 8}),
        ({"quant_method": "bnb", "tuner": "lora"}, {"tuner": "lora"}),
        ({"dtype": "float32"}, {"dtype": "bfloat16"}),
        ({"length": 65536, "tokens": 65536}, {"length": 65536, "tokens": 65536, "sequence_parallel": 4}),
        ({"strategy": "zero3", "hardware": PCIE}, {"strategy": "zero3"}),
        ({"facts": EXPERTS, "strategy": "fsdp2"}, {"facts": EXPERTS, "strategy": "megatron"}),
        (
            {"facts": EXPERTS, "strategy": "megatron", "pipeline_parallel": 4},
            {"facts": EXPERTS, "strategy": "megatron", "expert_parallel": 4},
        ),
    ],
)
def test_what_is_known_to_be_faster_is_faster(slower: dict[str, Any], faster: dict[str, Any]) -> None:
    assert speed(**slower) < speed(**faster)


def test_zero2_costs_hardly_anything_beside_ddp_for_an_adapter_and_cards_add_up() -> None:
    adapter = {"tuner": "lora"}
    assert speed(**adapter) == pytest.approx(speed(strategy="ddp", **adapter), rel=0.05)
    alone = speed(strategy="single", processes=1, cards=1, **adapter)
    assert speed(strategy="ddp", **adapter) == pytest.approx(4 * alone, rel=0.05)


def test_between_machines_the_network_is_what_counts() -> None:
    two = replace(NVLINK, nodes=2)
    assert speed(two, strategy="fsdp2", processes=8) < 2 * speed(strategy="fsdp2")


def test_a_token_meets_only_the_experts_it_is_sent_to() -> None:
    assert EXPERTS is not None and 2.5e9 < active_parameters(EXPERTS) < 4e9  # a "30B-A3B"


def test_a_card_is_known_by_its_name() -> None:
    names = ("NVIDIA H200", "NVIDIA A100-SXM4-80GB", "Tesla T4", "?")
    found = [peak(replace(NVLINK.gpus[0], name=name)) for name in names]
    assert found == sorted(found, reverse=True)
