"""The memory estimate: near what was measured and stated, and moving as its formulas say."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

import pytest

from services.models.facts import ModelFacts, facts_of
from services.planning.estimate import estimate
from services.planning.setup import Memory, Setup
from tests.bench import memory
from tests.bench.memory_figures import MEASURED, SEVEN_B, STATED, Measured, Stated

PACKED = [row for row in STATED if row.setup.packing and not row.is_a_limit]
LOOSE = [row for row in STATED if not row.setup.packing]
LORA = Setup(checkpointing=True, accumulation=16)
FULL = replace(LORA, tuner="full")


def gib(setup: Setup, tokens: int = 2048, facts: ModelFacts = SEVEN_B) -> float:
    return estimate(facts, setup, tokens).total


def parts(setup: Setup, tokens: int = 2048, facts: ModelFacts = SEVEN_B) -> dict[str, float]:
    return dict(estimate(facts, setup, tokens).parts)


def cards(setup: Setup, strategy: str, count: int, **changes: Any) -> Setup:
    return replace(setup, strategy=strategy, processes=count, cards=count, **changes)


@pytest.mark.parametrize("line", MEASURED, ids=lambda line: f"{line.model} {line.tuner} {line.batch}x{line.tokens}")
def test_trainings_on_a_cpu_took_what_is_estimated_within_a_fifth(line: Measured) -> None:
    assert gib(line.setup, line.tokens, line.facts) == pytest.approx(line.gib, rel=0.2)


def test_packed_rows_are_estimated_within_a_fifth_at_the_median() -> None:
    assert median(memory.off(row) for row in PACKED) <= 0.2


@pytest.mark.parametrize("row", PACKED, ids=lambda row: row.what)
def test_no_packed_row_needs_a_tenth_more_than_is_said(row: Stated) -> None:
    assert memory.need(row) <= 1.1


@pytest.mark.parametrize("row", [row for row in STATED if row.is_a_limit], ids=lambda row: row.what)
def test_what_runs_on_cards_of_80_gib_is_said_to_fit_them(row: Stated) -> None:
    assert gib(row.setup, row.setup.length, row.facts) <= 80


def test_one_length_explains_most_of_the_rows_whose_length_is_not_stated() -> None:
    assert memory.explained(LOOSE, memory.best_length(LOOSE)) > len(LOOSE) / 2


def test_the_parts_add_up_and_none_is_negative() -> None:
    found = estimate(SEVEN_B, FULL, 2048)
    assert found.total == pytest.approx(sum(found.parts.values()))
    assert min(found.parts.values()) > 0
    assert Memory().total == 0


@pytest.mark.parametrize(
    "change",
    [
        {"batch": 2},
        {"checkpointing": False},
        {"attention": "eager"},
        {"rank": 64},
        {"tuner": "full"},
        {"dtype": "float32"},
        {"command": "rlhf", "rlhf_type": "dpo"},
    ],
)
def test_what_takes_more_is_estimated_higher(change: dict[str, Any]) -> None:
    assert gib(replace(LORA, **change)) > gib(LORA)


@pytest.mark.parametrize(
    "change",
    [
        {"liger": True},
        {"quant_method": "bnb", "quant_bits": 4},
        {"command": "rlhf", "rlhf_type": "rm"},
        {"task": "seq_cls"},
        {"target_modules": ("q_proj", "v_proj"), "checkpointing": False},
        {"length": 512},
    ],
)
def test_what_takes_less_is_estimated_lower(change: dict[str, Any]) -> None:
    base = replace(LORA, checkpointing=change.get("checkpointing", True))
    assert gib(replace(LORA, **change)) < gib(base)


def test_each_stage_of_zero_takes_less_of_a_full_training() -> None:
    stages = [gib(cards(FULL, f"zero{stage}", 4)) for stage in range(4)]
    assert stages == sorted(stages, reverse=True)
    assert gib(cards(FULL, "zero3_offload", 4)) < gib(cards(FULL, "zero2_offload", 4)) < gib(cards(FULL, "zero2", 4))


def test_zero_3_and_the_16_bytes_of_mixed_precision() -> None:
    found = parts(cards(FULL, "zero3", 4))
    sixteenth = SEVEN_B.parameters / 4 / (1 << 30)
    assert found["weights"] == pytest.approx(2 * sixteenth)
    assert found["gradients"] == pytest.approx(2 * sixteenth)
    assert found["optimizer"] == pytest.approx(12 * sixteenth)


def test_without_deepspeed_the_states_stay_in_the_weights_precision() -> None:
    found = parts(FULL)
    assert found["optimizer"] == pytest.approx(2 * found["weights"])


def test_fsdp2_trains_in_float32_and_shards_it() -> None:
    found = parts(cards(FULL, "fsdp2", 4))
    assert found["weights"] == pytest.approx(SEVEN_B.parameters * 4 / 4 / (1 << 30))
    assert found["optimizer"] == pytest.approx(2 * found["weights"])


def test_an_adapter_needs_no_reference_model_but_a_full_training_a_copy() -> None:
    dpo: dict[str, Any] = {"command": "rlhf", "rlhf_type": "dpo"}
    assert parts(replace(LORA, **dpo))["weights"] == pytest.approx(parts(LORA)["weights"])
    assert parts(replace(FULL, **dpo))["weights"] == pytest.approx(2 * parts(FULL)["weights"])
    orpo = replace(FULL, command="rlhf", rlhf_type="orpo")
    assert parts(orpo)["weights"] == pytest.approx(parts(FULL)["weights"])


def test_offloading_moves_the_states_to_the_host() -> None:
    there, here = (estimate(SEVEN_B, cards(FULL, name, 4), 2048) for name in ("zero2_offload", "zero2"))
    assert there.host_gib - here.host_gib > 12 * SEVEN_B.parameters / (1 << 30)
    assert "optimizer" not in there.parts


def test_layers_are_shared_out_over_the_cards_of_a_device_map() -> None:
    split = replace(LORA, strategy="device_map", processes=1, cards=2)
    assert parts(split)["weights"] == pytest.approx(parts(LORA)["weights"] / 2)


def test_tokens_are_shared_out_by_sequence_parallelism() -> None:
    long = replace(LORA, length=32768)
    alone, shared = (parts(cards(long, "zero2", 4, sequence_parallel=size), 32768) for size in (1, 4))
    assert shared["activations"] == pytest.approx(alone["activations"] / 4)
    assert shared["logits"] == pytest.approx(alone["logits"] / 4)


def test_tensor_and_pipeline_parallelism_split_the_model() -> None:
    megatron = cards(FULL, "megatron", 8, tensor_parallel=2, pipeline_parallel=2)
    assert parts(megatron)["weights"] == pytest.approx(parts(FULL)["weights"] / 4)
    assert parts(megatron)["optimizer"] == pytest.approx(SEVEN_B.parameters / 4 * 12 / 2 / (1 << 30))


def test_experts_are_split_by_expert_parallelism() -> None:
    config = {"model_type": "qwen3_moe", "hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
              "num_key_value_heads": 4, "head_dim": 128, "intermediate_size": 6144, "moe_intermediate_size": 768,
              "num_experts": 128, "num_experts_per_tok": 8, "vocab_size": 151936}  # fmt: skip
    facts = facts_of(config)
    assert facts is not None
    whole, split = (parts(cards(FULL, "megatron", 8, expert_parallel=size), facts=facts) for size in (1, 8))
    saved = facts.expert_parameters * 2 * 7 / 8 / (1 << 30)
    assert whole["weights"] - split["weights"] == pytest.approx(saved)


def test_packed_rows_are_as_long_as_they_may_be() -> None:
    packed = replace(LORA, packing=True, length=4096)
    assert gib(packed, 100) == gib(packed, 4096) == gib(replace(packed, packing=False), 4096)


def test_rows_are_cut_at_max_length() -> None:
    assert gib(LORA, 100_000) == gib(LORA, LORA.length)


def test_a_rollout_engine_takes_its_share_of_the_card() -> None:
    grpo = replace(LORA, command="rlhf", rlhf_type="grpo", completion_length=512, generations=8)
    engine = replace(grpo, rollout_memory_share=0.4, card_gib=80.0)
    assert parts(engine)["rollout"] == pytest.approx(32.0)
    assert 0 < parts(grpo)["rollout"] < 2


def test_a_teacher_lies_beside_the_model() -> None:
    gkd = replace(LORA, command="rlhf", rlhf_type="gkd", completion_length=512)
    assert gib(replace(gkd, teacher_gib=10.0)) == pytest.approx(gib(gkd) + 10.0)


def test_fsdp2_keeps_a_full_training_in_float32_only_in_mixed_precision() -> None:
    """The precisions that torch tensors had in real runs of two ranks: float32, and bfloat16 where bf16 is off."""
    mixed = parts(replace(FULL, strategy="fsdp2", processes=4, cards=4))
    alone = parts(replace(FULL, strategy="fsdp2", processes=4, cards=4, mixed=False))
    for name in ("weights", "gradients", "optimizer"):
        assert alone[name] == pytest.approx(mixed[name] / 2)
    assert alone["weights"] * (1 << 30) == pytest.approx(SEVEN_B.parameters * 2 / 4)


@pytest.mark.parametrize(("optimizer", "share"), [("adamw_8bit", 0.5), ("sgd", 0.0), ("adafactor", 0.02)])
def test_small_optimizers_keep_less(optimizer: str, share: float) -> None:
    found = parts(replace(FULL, optimizer=optimizer)).get("optimizer", 0.0)
    assert found == pytest.approx(share * parts(FULL)["optimizer"], abs=1e-6)


def test_checkpoints_of_an_adapter_are_small_and_those_of_a_full_training_are_not() -> None:
    adapter, whole = estimate(SEVEN_B, LORA, 2048).disk_gib, estimate(SEVEN_B, FULL, 2048).disk_gib
    assert adapter == pytest.approx(20_185_088 * 12 * 4 / (1 << 30))
    assert whole == pytest.approx(SEVEN_B.parameters * 6 * 4 / (1 << 30))
