"""What is chosen for which model on which machine, and why."""

from __future__ import annotations

from typing import Any

import pytest

from services.errors import Refused
from services.models.facts import ModelFacts, facts_of
from services.planning.as_setup import rows_a_step
from services.planning.choose import Advice, advise
from services.planning.machine import described
from services.planning.packages import ALL
from services.planning.setup import Hardware
from services.planning.shown import advice_as_json
from services.presets import first_journey
from services.specs import TrainSpec, train_spec
from services.text import say

QWEN = {"model_type": "qwen2", "torch_dtype": "bfloat16", "max_position_embeddings": 131072}
CONFIGS: dict[str, dict[str, Any]] = {
    "0.5B": {"hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
             "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": True},
    "7B": {"hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
           "intermediate_size": 18944, "vocab_size": 152064, "tie_word_embeddings": False},
    "14B": {"hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8,
            "intermediate_size": 13824, "vocab_size": 152064, "tie_word_embeddings": False},
    "72B": {"hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
            "intermediate_size": 29568, "vocab_size": 152064, "tie_word_embeddings": False},
    "235B of experts": {"model_type": "qwen3_moe", "hidden_size": 4096, "num_hidden_layers": 94,
                        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128,
                        "intermediate_size": 12288, "moe_intermediate_size": 1536, "num_experts": 128,
                        "num_experts_per_tok": 8, "vocab_size": 151936, "tie_word_embeddings": False},
}  # fmt: skip
SMALL = {"model_type": "llama", "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9,
         "num_key_value_heads": 3, "intermediate_size": 1536, "vocab_size": 49152, "tie_word_embeddings": True,
         "max_position_embeddings": 2048, "torch_dtype": "bfloat16"}  # fmt: skip
FULL = {"tuner_type": "full"}


def facts(name: str) -> ModelFacts:
    found = facts_of({**QWEN, **CONFIGS[name]})
    assert found is not None
    return found


def machine(card: str = "", gib: float = 0, count: int = 0, **more: Any) -> Hardware:
    gpus = [{"name": card, "memory_gib": gib, "free_gib": gib * 0.985, "count": count}] if count else []
    return described({"gpus": gpus, "link": "nvlink", "host_memory_gib": 512, "cores": 64, **more})


FOUR = machine("NVIDIA A100-SXM4-40GB", 40, 4)
EIGHT = machine("NVIDIA H100 80GB HBM3", 80, 8, host_memory_gib=1024)
LAPTOP = machine(cores=2, host_memory_gib=24)


def advice(
    model: str | None, hardware: Hardware = FOUR, packages: frozenset[str] = ALL, spec: dict[str, Any] | None = None,
    **args: Any,
) -> Advice:  # fmt: skip
    wanted = train_spec({"model": "owner/name", **(spec or {}), **args})
    return advise(wanted, facts(model) if model else None, hardware, packages, here=False)


# the floor: what practitioners recommend for four cards of 40 GB


@pytest.mark.parametrize("model", ["7B", "14B"])
@pytest.mark.parametrize("args", [{}, {"rlhf_type": "dpo"}, {"max_length": 4096}, {"packing": True}])
def test_an_adapter_on_four_cards_is_trained_with_zero2(model: str, args: dict[str, Any]) -> None:
    found = advice(model, **args)
    assert (found.strategy, found.processes, found.fits) == ("zero2", 4, True)
    assert found.settings["deepspeed"] == "zero2"


@pytest.mark.parametrize("host", [64, 128, 512, 1024])
def test_a_full_training_of_14b_on_four_cards_is_split_in_bfloat16_and_that_is_said(host: int) -> None:
    found = advice("14B", machine("NVIDIA A100-SXM4-40GB", 40, 4, host_memory_gib=host), **FULL)
    assert (found.strategy, found.fits, found.reasons[0]) == ("fsdp2", True, "planning.why.halved")
    assert [found.settings[name] for name in ("torch_dtype", "bf16", "fp16")] == ["bfloat16", False, False]
    with_copy = next(other for other in found.runners_up if other.strategy == "fsdp2")
    assert with_copy.fits is False and with_copy.settings["bf16"] is True
    again = advice("14B", strategy=with_copy.strategy, **{**FULL, **with_copy.settings})
    assert (again.strategy, again.fits, again.worst) == ("fsdp2", False, with_copy.worst)


@pytest.mark.parametrize("fixed", [{"bf16": True}, {"torch_dtype": "float32"}, {"deepspeed": "zero3"}])
def test_a_precision_that_the_person_chose_is_not_halved(fixed: dict[str, Any]) -> None:
    found = advice("14B", **FULL, **fixed)
    assert found.settings.get("bf16") is not False
    assert found.reasons[0] != "planning.why.halved"


def test_cards_without_bfloat16_are_not_asked_to_train_in_it_alone() -> None:
    found = advice("7B", machine("Tesla V100-SXM2-32GB", 32, 4), **FULL)
    assert found.strategy == "zero3_offload" and found.settings["fp16"] is True


def in_use(card: str, gib: float, count: int, free: float) -> Hardware:
    """``count`` cards, of which all but the first ``free`` GiB of the third are free."""
    gpus = [{"name": card, "memory_gib": gib, "free_gib": free if index == 2 else gib} for index in range(count)]
    return described({"gpus": gpus, "link": "nvlink", "host_memory_gib": 512, "cores": 64})


def test_a_card_that_others_have_filled_stays_out_of_it_and_that_is_said() -> None:
    found = advice("14B", in_use("NVIDIA A100-SXM4-40GB", 40, 4, free=3))
    assert (found.strategy, found.processes, found.devices, found.fits) == ("zero2", 3, ("0", "1", "3"), True)
    assert found.free_gib == 40
    assert "planning.cards_left_out" in found.warned


@pytest.mark.parametrize(
    ("spec", "devices", "processes"),
    [
        ({"devices": [1, 2]}, ("1", "2"), 2),
        ({"processes": 4}, ("0", "1", "2", "3"), 4),
        ({"processes": 2}, ("0", "1", "3"), 2),
        ({"strategy": "single"}, ("0", "1", "3"), 1),
        ({"strategy": "device_map"}, ("0", "1", "3"), 1),
    ],
)
def test_cards_and_processes_that_were_asked_for_stay(
    spec: dict[str, Any], devices: tuple[str, ...], processes: int
) -> None:
    found = advice("7B", in_use("NVIDIA A100-SXM4-40GB", 40, 4, free=3), spec=spec)
    assert (found.devices, found.processes) == (devices, processes)


def test_cards_that_are_about_as_free_are_all_used() -> None:
    found = advice("7B", in_use("NVIDIA A100-SXM4-40GB", 40, 4, free=36))
    assert (found.devices, found.processes, found.warned) == (("0", "1", "2", "3"), 4, ())


def test_a_full_training_that_fits_split_over_the_cards_stays_on_them() -> None:
    assert advice("7B", **FULL).strategy in ("fsdp2", "zero3")
    assert advice("7B", EIGHT, **FULL).strategy in ("zero2", "fsdp2")


@pytest.mark.parametrize(("hardware", "fits"), [(EIGHT, True), (FOUR, False)])
def test_a_large_mixture_of_experts_goes_to_megatron(hardware: Hardware, fits: bool) -> None:
    found = advice("235B of experts", hardware)
    assert (found.strategy, found.command, found.fits) == ("megatron", "megatron sft", fits)
    assert found.setup.expert_parallel > 1
    assert found.settings["global_batch_size"] % (found.setup.batch * found.setup.copies) == 0


def test_without_megatron_a_mixture_of_experts_is_trained_otherwise_and_warned_of() -> None:
    found = advice("235B of experts", machine("NVIDIA B200", 180, 8), ALL - {"megatron"})
    assert found.strategy in ("fsdp2", "zero3") and found.command == "sft"
    assert "planning.rule.experts_sharded" in found.warned


@pytest.mark.parametrize("length", [32_768, 65_536])
def test_long_rows_are_split_over_the_cards(length: int) -> None:
    found = advice("7B", EIGHT, max_length=length)
    assert found.settings["sequence_parallel_size"] > 1 and found.fits
    assert found.setup.processes % found.settings["sequence_parallel_size"] == 0
    assert advice("14B", max_length=length).setup.sequence_parallel > 1


def test_rows_of_usual_length_are_not_split() -> None:
    assert advice("7B", EIGHT, max_length=8192).setup.sequence_parallel == 1


def test_a_quantized_mixture_takes_its_full_size_in_megatron_or_does_without_it() -> None:
    config = {**QWEN, **CONFIGS["235B of experts"]}
    whole = facts_of(config)
    for method, bits, command in (("fp8", 8, "megatron sft"), ("awq", 4, "sft")):
        stored = facts_of({**config, "quantization_config": {"quant_method": method, "bits": bits}})
        found = advise(TrainSpec(model="a/b"), stored, EIGHT, ALL, here=False)
        assert found.command == command
        if command.startswith("megatron"):
            plain = advise(TrainSpec(model="a/b"), whole, EIGHT, ALL, here=False)
            assert found.worst is not None and plain.worst is not None
            assert found.worst.parts["weights"] == plain.worst.parts["weights"]


# one card, several machines, no card


def test_one_card_that_holds_it_all_has_nothing_to_share() -> None:
    found = advice("7B", machine("NVIDIA GeForce RTX 4090", 24, 1))
    assert (found.strategy, found.processes, found.fits, found.setup.quant_method) == ("single", 1, True, None)
    assert "deepspeed" not in found.settings


def test_a_model_too_large_for_its_card_is_loaded_in_4_bits_and_that_is_said() -> None:
    small = machine("NVIDIA GeForce RTX 4060", 8, 1)
    found = advice("7B", small)
    assert (found.settings["quant_method"], found.settings["quant_bits"], found.fits) == ("bnb", 4, True)
    assert found.reasons[0] == "planning.why.qlora"
    assert advice("7B", small, ALL - {"bitsandbytes"}).setup.quant_method is None
    assert advice("0.5B", small).setup.quant_method is None


def test_where_an_adapter_fits_4_bits_are_only_suggested() -> None:
    found = advice("7B", machine("NVIDIA GeForce RTX 4090", 24, 1))
    suggested = [other for other in found.runners_up if other.settings.get("quant_method") == "bnb"]
    assert suggested and found.worst is not None
    assert all(other.worst is not None and other.worst.total < found.worst.total for other in suggested)


def test_what_fits_nowhere_is_said_with_the_nearest_way() -> None:
    found = advice("72B", LAPTOP)
    assert found.fits is False and found.reasons[0] == "planning.why.nothing_fits_cpu"
    on_card = advice("72B", machine("NVIDIA GeForce RTX 4090", 24, 1, host_memory_gib=8))
    assert on_card.fits is False and on_card.reasons[0] == "planning.why.nothing_fits"
    short = advice("7B", machine("NVIDIA GeForce RTX 4090", 24, 1, host_memory_gib=64), **FULL)
    assert short.fits is False and short.reasons[0] == "planning.why.host_too_small"


def test_several_machines_are_planned_for_as_a_whole() -> None:
    two = machine("NVIDIA A100-SXM4-40GB", 40, 4, nodes=2)
    found = advice("14B", two, **FULL)
    assert (found.nodes, found.processes, found.setup.processes) == (2, 4, 8)
    assert found.fits and rows_a_step(found.setup) == 16
    assert advice("0.5B", machine(cores=4, nodes=2)).strategy == "ddp"


def test_the_first_journey_stays_as_it_is_on_a_cpu() -> None:
    small = facts_of(SMALL)
    assert small is not None
    found = advise(first_journey(), small, LAPTOP, frozenset(), rows=100)
    settings = found.settings
    assert (found.strategy, found.processes, found.fits) == ("single", 1, True)
    assert (settings["torch_dtype"], settings["bf16"], settings["fp16"]) == ("float32", False, False)
    assert (settings["per_device_train_batch_size"], settings["gradient_checkpointing"]) == (4, False)
    assert not {"attn_impl", "padding_free", "use_liger_kernel", "deepspeed"} & settings.keys()
    assert not found.changed and not found.warned


def test_a_cpu_with_instructions_for_bfloat16_uses_them_for_an_adapter_and_rows_that_gain_by_it() -> None:
    fast = machine(cores=2, host_memory_gib=24, has_bf16=True)
    found = advice("0.5B", fast)
    assert (found.settings["torch_dtype"], found.settings["bf16"], found.setup.dtype) == ("bfloat16", True, "bfloat16")
    assert advice("0.5B", fast, spec={"expected_tokens": 54}).settings["torch_dtype"] == "float32"
    assert advice("0.5B", fast, spec={"processes": 2}).settings["torch_dtype"] == "float32"
    assert advice("0.5B", fast, **FULL).settings["torch_dtype"] == "float32"
    assert advice("0.5B", LAPTOP, torch_dtype="bfloat16").settings["torch_dtype"] == "float32"  # changed, and said


@pytest.mark.parametrize(("processes", "strategy"), [(None, "single"), (1, "single"), (2, "ddp")])
def test_a_cpu_takes_as_many_ranks_as_were_asked_for(processes: int | None, strategy: str) -> None:
    assert advice("0.5B", LAPTOP, spec={"processes": processes}).strategy == strategy


def test_npus_are_planned_for_without_what_only_nvidia_has() -> None:
    found = advice("7B", machine("Ascend 910B3", 64, 8))
    assert found.strategy == "zero2" and found.fits
    assert not {"attn_impl", "padding_free", "use_liger_kernel"} & found.settings.keys()


def test_an_old_card_gets_float16_and_that_is_said() -> None:
    found = advice("7B", machine("Tesla V100-SXM2-32GB", 32, 2))
    assert (found.settings["torch_dtype"], found.setup.dtype) == ("float16", "float16")
    assert "planning.rule.bf16_without" in found.changed
    assert found.settings.get("attn_impl") is None


# methods


@pytest.mark.parametrize(
    "args",
    [
        {"rlhf_type": "dpo"}, {"rlhf_type": "kto"}, {"rlhf_type": "orpo"}, {"rlhf_type": "simpo"}, {"rlhf_type": "rm"},
        {"rlhf_type": "grpo", "reward_funcs": ["accuracy"]}, {"rlhf_type": "gkd", "teacher_model": "a/b"},
    ],
    ids=lambda args: args["rlhf_type"],
)  # fmt: skip
@pytest.mark.parametrize("hardware", [FOUR, EIGHT, LAPTOP], ids=["four", "eight", "cpu"])
@pytest.mark.parametrize("tuner", ["lora", "full"])
def test_every_method_has_a_plan_that_its_own_rules_allow(args: dict[str, Any], hardware: Hardware, tuner: str) -> None:
    found = advice("0.5B", hardware, tuner_type=tuner, **args)
    assert found.fits and found.worst is not None and found.expected is not None
    assert found.command == "rlhf" and found.settings["rlhf_type"] == args["rlhf_type"]
    assert found.expected.total <= found.worst.total + 1e-9
    if args["rlhf_type"] == "grpo":
        rows = found.setup.batch * found.setup.accumulation * found.setup.processes
        assert rows % found.settings["num_generations"] == 0
    if args["rlhf_type"] == "kto":
        assert found.setup.batch >= 2


# what a person fixes stays


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("per_device_train_batch_size", 3), ("gradient_accumulation_steps", 7), ("max_length", 777),
        ("gradient_checkpointing", False), ("attn_impl", "sdpa"), ("padding_free", False), ("lora_rank", 64),
        ("use_liger_kernel", False), ("dataloader_num_workers", 9), ("learning_rate", 3e-4), ("save_steps", 11),
        ("torch_dtype", "float16"), ("num_train_epochs", 2.5),
    ],
)  # fmt: skip
def test_what_the_spec_fixes_stays_as_it_is_and_is_estimated(name: str, value: object) -> None:
    found = advice("7B", **{name: value})
    assert found.settings[name] == value and found.worst is not None


@pytest.mark.parametrize(
    "strategy",
    ["ddp", "zero0", "zero1", "zero2", "zero3", "zero2_offload", "zero3_offload", "fsdp2", "device_map", "megatron"],
)
def test_a_strategy_that_was_asked_for_is_kept_and_estimated(strategy: str) -> None:
    found = advice("7B", EIGHT, spec={"strategy": strategy})
    assert found.strategy == strategy and found.worst is not None and found.fits
    assert found.reasons[0] == "planning.why.given"


def test_a_strategy_that_does_not_fit_is_kept_too_and_said() -> None:
    found = advice("14B", spec={"strategy": "ddp"}, **FULL)
    assert (found.strategy, found.fits, found.reasons[0]) == ("ddp", False, "planning.why.given_too_large")


@pytest.mark.parametrize("value", ["zero3", {"zero_optimization": {"stage": 3}}])
def test_an_argument_names_a_strategy_as_the_spec_does(value: object) -> None:
    found = advice("7B", deepspeed=value)
    assert found.strategy == "zero3" and found.settings["deepspeed"] == value
    with pytest.raises(Refused, match="strategy_contradicts"):
        advice("7B", spec={"strategy": "zero2"}, deepspeed=value)


@pytest.mark.parametrize(
    ("code", "spec"),
    [
        ("single_needs_one", {"strategy": "single", "processes": 2}),
        ("more_processes_than_cards", {"processes": 5}),
        ("more_processes_than_cards", {"processes": 2, "devices": ["1"]}),
        ("card_not_there", {"devices": ["7"]}),
        ("strategy_contradicts", {"strategy": "ddp", "fsdp": "fsdp2"}),
        ("strategy_contradicts", {"strategy": "zero2", "command": "megatron sft"}),
        ("argument_unknown", {"lerning_rate": 1}),
        ("argument_renamed", {"train_type": "lora"}),
        ("argument_value", {"lora_rank": "many"}),
        ("grpo_without_reward", {"rlhf_type": "grpo"}),
    ],
)
def test_what_cannot_work_is_refused(code: str, spec: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        advice("7B", **spec)
    assert caught.value.code == code


def test_only_the_chosen_cards_count() -> None:
    found = advice("7B", spec={"devices": ["1", "3"]})
    assert found.processes == 2
    mixed = described({"gpus": [{"name": "A100", "memory_gib": 40, "free_gib": free} for free in (39, 5)],
                       "host_memory_gib": 64, "cores": 8})  # fmt: skip
    assert advice("0.5B", mixed).free_gib == 5  # the fullest card decides
    assert advice("0.5B", mixed, spec={"devices": ["0"]}).free_gib == 39


# what is told


def test_a_plan_is_told_in_two_sentences_with_its_memory_and_runners_up() -> None:
    told = advice_as_json(advice("14B"), "en")
    assert len(told["reasons"]) == 2 and all(text.endswith(".") for text in told["reasons"])
    assert told["memory_gib_per_card"] <= told["memory_gib_per_card_worst"] <= told["free_gib_per_card"]
    assert sum(told["memory_worst"].values()) == pytest.approx(told["memory_gib_per_card_worst"], abs=0.05)
    assert {"fsdp2", "zero3"} & {other["strategy"] for other in told["runners_up"]}
    assert all((other["cost"] and other["strategy"] != "zero2") or other["settings"] for other in told["runners_up"])


def test_a_runner_up_is_chosen_by_putting_its_strategy_into_the_spec() -> None:
    first = advice("14B")
    for other in first.runners_up:
        again = advice("14B", spec={"strategy": other.strategy}, **other.settings)
        assert again.strategy == other.strategy
        assert again.worst is not None and other.worst is not None
        assert again.worst.total == pytest.approx(other.worst.total)


def test_a_model_of_unknown_size_gets_a_cautious_plan_without_an_estimate() -> None:
    found = advice(None)
    assert (found.strategy, found.worst, found.fits) == ("zero2", None, None)
    assert advice(None, **FULL).strategy == "zero3"
    assert advice_as_json(found, "en")["memory"] is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_sentence_can_be_said(lang: str) -> None:
    wishes: list[tuple[str | None, Hardware, dict[str, Any]]] = [
        ("7B", FOUR, {}), ("14B", FOUR, FULL), ("7B", EIGHT, FULL), ("72B", FOUR, {}), ("72B", LAPTOP, {}),
        ("235B of experts", EIGHT, {}), ("7B", EIGHT, {"max_length": 65536}), (None, FOUR, {}), ("0.5B", LAPTOP, {}),
        ("0.5B", LAPTOP, {"processes": 2}), ("7B", machine("T4", 16, 2), {}), ("7B", machine("RTX 4060", 8, 1), {}),
    ]  # fmt: skip
    for model, hardware, args in wishes:
        told = advice(model, hardware, **args)
        sentences = [*told.reasons, *told.changed, *told.warned, *(other.cost for other in told.runners_up)]
        assert all("{" not in say(key, lang, **key.values) for key in sentences)


def test_the_mean_length_is_the_specs_the_datas_or_512_and_never_above_the_longest() -> None:
    spec = TrainSpec(model="a/b", args={"max_length": 1000})
    of = lambda **more: advise(spec, facts("7B"), FOUR, ALL, here=False, **more).tokens  # noqa: E731
    assert (of(), of(tokens=300), of(tokens=5000)) == (512, 300, 1000)
    wanted = spec.model_copy(update={"expected_tokens": 200})
    assert advise(wanted, facts("7B"), FOUR, ALL, here=False, tokens=300).tokens == 200


def test_saving_keeps_step_with_evaluation_where_the_best_is_loaded() -> None:
    spec = TrainSpec(model="a/b", args={"load_best_model_at_end": True, "split_dataset_ratio": 0.1, "eval_steps": 30})
    found = advise(spec, facts("7B"), FOUR, ALL, here=False, rows=100_000)
    assert found.settings["save_steps"] % 30 == 0
