"""The methods of training: what each starts with, and what is refused because ms-swift would stop at it."""

from __future__ import annotations

from typing import Any

import pytest

from services.errors import Refused
from services.swift import catalogue
from services.swift.methods import (
    COMMON_FIELDS,
    FULL_FIELDS,
    LORA_FIELDS,
    METHODS,
    QLORA_FIELDS,
    check_method,
    fields,
    fitted,
    generations_fitting,
    least_batch,
    method_of,
    method_settings,
)
from services.text import explain
from tests.method_plans import CASES, GOLDEN, golden


def test_the_commands_of_all_methods_and_options_are_the_golden_ones() -> None:
    """``python -m tests.method_plans`` writes them anew; read the difference before you keep it."""
    assert golden() == GOLDEN.read_text("utf-8")
    assert set(METHODS) - {"ppo"} <= set(CASES)


# what a method is


def test_a_method_is_known_by_its_command_and_type() -> None:
    assert method_of("sft", {}).name == "sft"
    assert method_of("rlhf", {}).name == "dpo"  # as ms-swift's own default
    assert method_of("megatron rlhf", {"rlhf_type": "kto"}).name == "kto"
    assert [one.rlhf_type for one in METHODS.values()][:3] == [None, None, "dpo"]


def test_every_field_of_a_form_is_an_argument_of_its_command() -> None:
    for method in METHODS.values():
        known = catalogue.arguments(method.command)
        for tuner in ("lora", "full", "adalora"):
            assert set(fields(method, tuner, quantized=True)) <= set(known), method.name
    assert set(fields(METHODS["sft"], "full")) == {*METHODS["sft"].fields, *FULL_FIELDS, *COMMON_FIELDS}
    assert set(LORA_FIELDS) <= set(fields(METHODS["dpo"], "lora"))
    assert not set(QLORA_FIELDS) & set(fields(METHODS["dpo"], "lora"))


def test_the_table_holds_every_rlhf_type_of_the_catalogue() -> None:
    known = catalogue.arguments("rlhf")["rlhf_type"].choices or ()
    assert {one.rlhf_type for one in METHODS.values() if one.command == "rlhf"} == set(known)


# defaults


@pytest.mark.parametrize(
    ("command", "args", "rate"),
    [
        ("sft", {}, 1e-4),
        ("sft", {"tuner_type": "full"}, 1e-5),
        ("pt", {}, 1e-4),
        ("rlhf", {"rlhf_type": "dpo"}, 1e-5),
        ("rlhf", {"rlhf_type": "dpo", "tuner_type": "full"}, 1e-6),
        ("rlhf", {"rlhf_type": "orpo"}, 8e-5),
        ("rlhf", {"rlhf_type": "grpo"}, 1e-5),
        ("rlhf", {"rlhf_type": "rm", "tuner_type": "full"}, 1e-5),
    ],
)
def test_the_learning_rate_follows_method_and_tuner(command: str, args: dict[str, Any], rate: float) -> None:
    assert method_settings(args, command)["learning_rate"] == rate


def test_a_small_model_learns_faster_with_lora_and_megatron_calls_it_lr() -> None:
    assert method_settings({}, "sft", on_cpu=True, small=True)["learning_rate"] == 1e-3
    assert method_settings({"tuner_type": "full"}, "sft", small=True)["learning_rate"] == 1e-5
    assert method_settings({}, "megatron sft")["lr"] == 1e-4
    assert "learning_rate" not in method_settings({}, "megatron sft")


def test_what_the_spec_says_is_never_set_again() -> None:
    args = {"tuner_type": "lora", "lora_rank": 4, "learning_rate": 1e-6, "rlhf_type": "kto", "use_rslora": True}
    settings = method_settings(args, "rlhf")
    assert not set(settings) & set(args)
    assert settings["lora_alpha"] == 16


def test_the_tuner_brings_its_own_settings() -> None:
    assert method_settings({})["target_modules"] == ["all-linear"]
    assert method_settings({})["lora_alpha"] == 32
    assert "lora_rank" not in method_settings({"tuner_type": "full"})
    assert "lora_rank" not in method_settings({"tuner_type": "adalora"})
    assert method_settings({"init_weights": "pissa"})["lora_dropout"] == 0
    assert method_settings({"quant_method": "bnb"})["quant_bits"] == 4
    assert "quant_bits" not in method_settings({"quant_method": "fp8"})


def test_grpo_generates_with_transformers_unless_vllm_is_asked_for() -> None:
    def of(**args: Any) -> dict[str, Any]:
        return method_settings({"rlhf_type": "grpo", **args}, "rlhf")

    assert of()["use_vllm"] is False
    assert of(use_vllm=True)["vllm_mode"] == "colocate"
    assert of(vllm_mode="colocate")["use_vllm"] is True
    assert {name: of(vllm_server_host=["h"])[name] for name in ("use_vllm", "vllm_mode")} == {
        "use_vllm": True,
        "vllm_mode": "server",
    }
    assert method_settings({"rlhf_type": "grpo", "vllm_mode": "colocate"}, "rlhf", on_cpu=True)["use_vllm"] is False


# batches


def test_kto_takes_two_rows_at_once() -> None:
    assert least_batch("rlhf", {"rlhf_type": "kto"}) == 2
    assert least_batch("rlhf", {"rlhf_type": "kto", "loss_type": "apo_zero_unpaired"}) == 1
    assert least_batch("sft", {}) == least_batch("rlhf", {}) == 1


@pytest.mark.parametrize(
    ("counts", "wanted", "fitting"),
    [
        ((4, 2, 1), 8, 8),
        ((1, 6, 2), 8, 6),
        ((1, 16, 1), 5, 4),
        ((1, 2, 1), 8, 2),
        ((1, 7, 1), 8, 7),
        ((11, 1, 1), 8, 11),
    ],
)
def test_the_generations_fill_a_batch(counts: tuple[int, int, int], wanted: int, fitting: int) -> None:
    assert generations_fitting(*counts, wanted) == fitting


def test_one_answer_is_not_enough_to_compare() -> None:
    with pytest.raises(Refused) as caught:
        generations_fitting(1, 1, 1)
    assert caught.value.code == "generations_one"


def test_generations_are_added_once_the_batch_stands() -> None:
    grpo = {"rlhf_type": "grpo", "per_device_train_batch_size": 1, "gradient_accumulation_steps": 6}
    assert fitted(grpo, "rlhf", 2) == {"num_generations": 6}
    assert fitted({**grpo, "num_generations": 3}, "rlhf", 2) == {}
    assert fitted({**grpo, "generation_batch_size": 16}, "rlhf", 2) == {"num_generations": 8}
    assert fitted({**grpo, "split_dataset_ratio": 0.1}, "rlhf", 2) == {
        "num_generations": 6,
        "per_device_eval_batch_size": 3,
    }
    assert fitted({}, "sft", 2) == {}


# refused before the launch


GRPO = {"rlhf_type": "grpo", "reward_funcs": ["format"], "gradient_accumulation_steps": 8}


def refusal(command: str, processes: int = 1, **settings: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        check_method(settings, command, processes)
    assert explain(caught.value, "en") != explain(caught.value, "zh")
    return caught.value


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"rlhf_type": "orpo", "packing": True}, "method_without"),
        ({"rlhf_type": "rm", "padding_free": True}, "method_without"),
        ({"rlhf_type": "kto", "sequence_parallel_size": 2}, "method_without"),
        ({"rlhf_type": "dpo", "ref_model": "m"}, "reference_not_taken"),
        ({"rlhf_type": "simpo", "tuner_type": "full", "ref_model": "m"}, "reference_not_taken"),
        ({"rlhf_type": "orpo", "ref_adapters": ["a"]}, "reference_not_taken"),
        ({"rlhf_type": "kto"}, "kto_batch_one"),
        ({"rlhf_type": "grpo"}, "grpo_without_reward"),
        ({"rlhf_type": "ppo"}, "ppo_without_reward"),
        ({**GRPO, "num_generations": 1}, "generations_one"),
        ({**GRPO, "gradient_accumulation_steps": 12}, "generations_do_not_divide"),
        ({**GRPO, "truncation_strategy": "right"}, "grpo_truncation"),
        ({**GRPO, "reward_funcs": ["soft_overlong"]}, "soft_overlong_length"),
        ({"rlhf_type": "gkd", "vllm_mode": "colocate"}, "vllm_mode_without_vllm"),
        ({"rlhf_type": "gkd", "use_vllm": True}, "vllm_without_mode"),
        ({"rlhf_type": "gkd", "use_vllm": True, "vllm_mode": "server"}, "vllm_server_nowhere"),
        ({"rlhf_type": "gkd", "teacher_model": "m", "teacher_model_server": "http://x"}, "two_teachers"),
        ({"rlhf_type": "gkd", "teacher_model_server": "http://x"}, "teacher_server_topk"),
        ({"rlhf_type": "gkd", "use_liger_kernel": True}, "liger_needs_teacher"),
    ],
)
def test_what_ms_swift_would_stop_at_is_refused_with_its_reason(settings: dict[str, Any], code: str) -> None:
    assert refusal("rlhf", **settings).code == code


def test_the_arithmetic_of_the_generations_is_told() -> None:
    error = refusal(
        "rlhf", 3, rlhf_type="grpo", reward_funcs=["format"], per_device_train_batch_size=2, num_generations=4
    )
    assert (error.values["total"], error.values["fitting"]) == (6, "2, 3, 6")


def test_megatron_trains_some_methods_only() -> None:
    assert refusal("megatron rlhf", rlhf_type="orpo").code == "method_not_megatron"
    check_method({"rlhf_type": "dpo", "ref_model": "m"}, "megatron rlhf", 8)


@pytest.mark.parametrize(
    "settings",
    [
        {"rlhf_type": "dpo", "tuner_type": "full", "ref_model": "m", "packing": True},
        {"rlhf_type": "dpo", "ref_adapters": ["a"], "sequence_parallel_size": 2},
        {"rlhf_type": "kto", "per_device_train_batch_size": 2},
        {"rlhf_type": "kto", "loss_type": "apo_zero_unpaired"},
        {"rlhf_type": "grpo", "reward_model": ["m"], "gradient_accumulation_steps": 8},
        {"rlhf_type": "grpo", "teacher_model": "m", "num_generations": 1},
        {"rlhf_type": "gkd", "use_vllm": True, "vllm_mode": "server", "vllm_server_host": ["h"]},
        {"rlhf_type": "gkd", "teacher_model_server": "http://x", "gkd_logits_topk": 20},
    ],
)
def test_what_works_is_let_through(settings: dict[str, Any]) -> None:
    check_method(settings, "rlhf", 1)
    check_method({**settings, "packing": True}, "sft", 1)
