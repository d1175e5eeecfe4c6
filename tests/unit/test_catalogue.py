"""The argument catalogue: names, values, and the words that reach ms-swift."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import pytest

from services.errors import Refused
from services.plan import Slot
from services.swift import catalogue
from services.swift.argument_help import argument_help, help_file
from services.swift.catalogue import arguments, check, parse_extra, to_argv
from services.swift.renamed import RENAMED, RENAMED_VALUES
from services.text import explain, say

COMMANDS = ("sft", "pt", "rlhf", "export", "deploy", "infer")


def refusal(command: str, args: dict[str, object]) -> Refused:
    with pytest.raises(Refused) as caught:
        check(command, args)
    assert explain(caught.value, "en") != explain(caught.value, "zh")
    return caught.value


# names


def test_every_command_has_its_own_arguments() -> None:
    assert arguments("sft")["tuner_type"].default == "lora"
    assert arguments("pt")["loss_scale"].default == "all"
    assert "rlhf_type" in arguments("rlhf") and "rlhf_type" not in arguments("sft")
    assert arguments("export")["quant_method"].choices != arguments("sft")["quant_method"].choices
    assert arguments("rlhf")["loss_type"].type == "list[str]" and arguments("sft")["loss_type"].type == "str"
    assert len(arguments("sft")) > 300


def test_the_catalogue_is_light_and_quick() -> None:
    catalogue._catalogue.cache_clear()
    arguments.cache_clear()
    began = time.perf_counter()
    arguments("sft")
    assert time.perf_counter() - began < 0.02
    assert not {"torch", "swift", "transformers"} & set(sys.modules)


def test_an_old_name_is_refused_with_the_new_one() -> None:
    error = refusal("sft", {"train_type": "lora"})
    assert (error.code, error.values) == ("argument_renamed", {"name": "--train_type", "new": "--tuner_type"})
    assert "--tuner_type" in explain(error, "en")


@pytest.mark.parametrize(
    ("command", "name", "new"),
    [
        ("sft", "sft_type", "--tuner_type"),
        ("sft", "gradient_clipping", "--max_grad_norm"),
        ("sft", "metric", "--eval_metric"),
        ("infer", "ckpt_dir", "--adapters, --model"),
        ("deploy", "tensor_parallel_size", "--vllm_tensor_parallel_size"),
        ("deploy", "tp_size", "--sglang_tp_size"),
    ],
)
def test_names_people_still_paste_are_refused_with_the_new_one(command: str, name: str, new: str) -> None:
    error = refusal(command, {name: "x"})
    assert (error.code, error.values["new"]) == ("argument_renamed", new)


@pytest.mark.parametrize(
    ("command", "name", "value", "new"),
    [
        ("deploy", "infer_backend", "pt", "--infer_backend transformers"),
        ("sft", "fsdp", "full_shard auto_wrap", "--fsdp fsdp2"),
        ("sft", "quant_method", "qlora", "--quant_method bnb --quant_bits 4 --tuner_type lora"),
        ("sft", "torch_dtype", "bf16", "--torch_dtype bfloat16"),
        ("sft", "target_modules", ["ALL"], "--target_modules all-linear"),
    ],
)
def test_old_values_are_refused_with_the_new_ones(command: str, name: str, value: object, new: str) -> None:
    error = refusal(command, {name: value})
    assert (error.code, error.values["new"]) == ("argument_renamed", new)


def test_the_table_of_old_names_holds_only_old_names_and_real_new_ones() -> None:
    real = {name for command in COMMANDS for name in arguments(command)}
    assert {new for names in RENAMED.values() for new in names} <= real
    assert not set(RENAMED) & set(arguments("sft"))
    for (name, old), new in RENAMED_VALUES.items():
        assert name in real
        words = new.replace("--", "").split()
        assert check(
            "sft" if words[0] in arguments("sft") else "infer",
            dict(zip(words[::2], words[1::2], strict=True)),
        )
        assert old not in new.split()


def test_an_unknown_name_is_refused_with_the_closest() -> None:
    error = refusal("sft", {"lerning_rate": 1e-4})
    assert error.code == "argument_unknown"
    assert str(error.values["close"]).startswith("--learning_rate")
    assert refusal("sft", {"zzzz": 1}).values["close"]


def test_an_argument_of_another_command_says_whose_it_is() -> None:
    error = refusal("deploy", {"check_model": False})
    assert error.code == "argument_other_command"
    assert str(error.values["others"]).startswith("swift sft, swift pt, swift rlhf, megatron sft, ")


def test_ignore_args_error_is_refused_and_its_harmless_form_left_out() -> None:
    assert refusal("sft", {"ignore_args_error": "true"}).code == "argument_ignore_errors"
    assert check("sft", {"ignore_args_error": False}) == {}


def test_names_may_have_dashes_and_switches_a_no() -> None:
    assert check("sft", {"--learning-rate": "1e-4", "no_add_version": True}) == {
        "learning_rate": 1e-4,
        "add_version": False,
    }


# values


@pytest.mark.parametrize(
    ("name", "value", "typed"),
    [
        ("learning_rate", "1e-4", 1e-4),
        ("learning_rate", 1, 1),
        ("save_steps", "500", 500),
        ("lora_rank", "16", 16),
        ("lora_rank", 16.0, 16),
        ("max_steps", "1e3", 1000),
        ("packing", "True", True),
        ("packing", 0, False),
        ("target_modules", "q_proj", ["q_proj"]),
        ("interleave_prob", ["0.5", 1], [0.5, 1]),
        ("quant_bits", "4", 4),
        ("quant_bits", "float8", "float8"),
        ("save_strategy", False, "no"),
        ("init_weights", True, "true"),
        ("system", "  two  spaces ", "  two  spaces "),
        ("system", 3, "3"),
        ("model_kwargs", '{"a": 1}', {"a": 1}),
        ("model_kwargs", {"a": 1}, {"a": 1}),
        ("max_memory", '{0: "20GB"}', {0: "20GB"}),
        ("deepspeed", "zero2", "zero2"),
        ("device_map", "auto", "auto"),
    ],
)
def test_values_become_their_type(name: str, value: object, typed: object) -> None:
    cleaned = check("sft", {name: value})
    assert cleaned == {name: typed}
    assert type(cleaned[name]) is type(typed)


@pytest.mark.parametrize("args", [{"seed": None}, {"dataset": []}, {"torch_dtype": "None"}])
def test_what_only_means_the_default_is_left_out(args: dict[str, object]) -> None:
    assert check("sft", args) == {}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("learning_rate", "fast", "float"),
        ("learning_rate", "nan", "float"),
        ("learning_rate", True, "float"),
        ("lora_rank", "8.5", "int"),
        ("lora_rank", "9" * 5000, "int"),
        ("packing", "maybe", "true, false"),
        ("tuner_type", "lroa", "lora"),
        ("eval_strategy", "epochs", "epoch"),
        ("lr_scheduler_type", "cosin", "cosine"),
        ("model_kwargs", '{"a": ', "JSON"),
        ("system", ["two", "words"], "str"),
        ("report_to", [], "str"),
        ("parallelism_config", "x", "—"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(name: str, value: object, allowed: str) -> None:
    error = refusal("sft", {name: value})
    assert error.code == "argument_value"
    assert allowed in str(error.values["allowed"])
    assert len(str(error.values["value"])) <= 80


def test_a_plugin_may_bring_its_own_tuner() -> None:
    args: dict[str, object] = {"tuner_type": "mine", "external_plugins": ["mine.py"]}
    assert check("sft", args) == args


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("system", "--"),
        ("system", "a\0b"),
        ("system", "\ud800"),
        ("system", "x" * 200_000),
        ("dataset", ["a", "-b"]),
        ("dataset", ["a", "--"]),
    ],
)
def test_what_no_command_line_can_carry_is_refused(name: str, value: object) -> None:
    assert refusal("sft", {name: value}).code == "argument_unpassable"


# words


def test_arguments_become_words() -> None:
    assert to_argv(
        {
            "learning_rate": 1e-4,
            "target_modules": ["a", "b"],
            "packing": True,
            "model_kwargs": {"名": 1},
            "seed": None,
            "dataset": [],
            "system": "",
        }
    ) == [
        *("--learning_rate", "0.0001", "--target_modules", "a", "b", "--packing", "true"),
        *("--model_kwargs", '{"名": 1}', "--system", ""),
    ]


def test_a_value_with_a_leading_dash_is_bound_to_its_name_and_comes_last() -> None:
    assert to_argv({"system": "--foo.yaml", "top_k": -1, "seed": 1}) == [
        *("--seed", "1", "--system=--foo.yaml", "--top_k=-1"),
    ]


def test_a_slot_stays_a_slot() -> None:
    cleaned = check("sft", {"output_dir": Slot("{run}/output")})
    assert isinstance(to_argv(cleaned)[1], Slot)


# the box for further arguments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("# a comment\n\n", {}),
        (
            "--learning_rate 1e-4 --packing --top_k -1",
            {"learning_rate": "1e-4", "packing": True, "top_k": "-1"},
        ),
        ("--learning-rate=1e-4", {"learning_rate": "1e-4"}),
        ("learning_rate=1e-4 packing=true", {"learning_rate": "1e-4", "packing": "true"}),
        ("learning_rate = 1e-4\r\npacking: true", {"learning_rate": "1e-4", "packing": "true"}),
        ("--target_modules q_proj k_proj", {"target_modules": ["q_proj", "k_proj"]}),
        ("target_modules=q_proj k_proj", {"target_modules": ["q_proj", "k_proj"]}),
        ("target_modules: q_proj k_proj", {"target_modules": ["q_proj", "k_proj"]}),
        ("--adapters a=/x b=/y", {"adapters": ["a=/x", "b=/y"]}),
        ("system: You don't say --this", {"system": "You don't say --this"}),
        ("system：你好 世界", {"system": "你好 世界"}),
        ("--system 'two words' --seed 1", {"system": "two words", "seed": "1"}),
        ("--system=--foo", {"system": "--foo"}),
        ("system=", {"system": ""}),
        ("--system 'one\n  two' \\\n  --seed 1 \\", {"system": "one\n  two", "seed": "1"}),
        ('model_kwargs: {"a": "it\'s"}', {"model_kwargs": {"a": "it's"}}),
        ("--model_kwargs '{\"a\": 1}'", {"model_kwargs": '{"a": 1}'}),
        ("--dataset data.jsonl#500 '/a b/c.jsonl'", {"dataset": ["data.jsonl#500", "/a b/c.jsonl"]}),
        ("--system $(touch x); `id`", {"system": ["$(touch", "x);", "`id`"]}),
        ("seed=1\nseed=2", {"seed": "2"}),
    ],
)
def test_further_arguments_are_read_as_people_type_them(text: str, found: dict[str, object]) -> None:
    assert parse_extra(text) == found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("lora_rank 8", 1),
        ("seed=1\nwhat is this", 2),
        ("seed=1\n\n--system 'open\nmore", 3),
        ("swift sft --model x", 1),
        ("packing:", 1),
        ("---", 1),
    ],
)
def test_further_arguments_that_make_no_sense_are_refused_with_their_line(text: str, line: int) -> None:
    with pytest.raises(Refused) as caught:
        parse_extra(text)
    assert (caught.value.code, caught.value.values["line"]) == ("argument_syntax", line)
    assert explain(caught.value, "zh")


# values beyond the declared ones


def test_what_stands_only_in_the_code_is_known_too() -> None:
    rlhf = arguments("rlhf")
    assert {"lora", "full", "adalora", "bone", "ia3"} <= set(rlhf["tuner_type"].choices or ())
    assert {"galore", "muon", "lorap"} <= set(rlhf["optimizer"].known)
    assert {"accuracy", "format", "soft_overlong"} <= set(rlhf["reward_funcs"].known)
    assert {"sigmoid", "ipo", "simpo", "dr_grpo", "apo_zero_unpaired"} <= set(rlhf["loss_type"].known)
    assert {"infonce", "cross_entropy"} <= set(arguments("sft")["loss_type"].known)
    assert {"flash_attn", "sdpa"} <= set(rlhf["attn_impl"].known) and not rlhf["attn_impl"].plugged
    assert {"last_round", "react"} <= set(rlhf["loss_scale"].known)
    assert "adamw_torch" in (rlhf["optim"].choices or ()) and "cosine" in (rlhf["lr_scheduler_type"].choices or ())
    assert {"zero0", "zero3_offload"} <= set(rlhf["deepspeed"].known)
    assert {"chatml", "llama3"} <= set(rlhf["template"].known)


def test_megatron_and_the_other_commands_are_there() -> None:
    assert {"rollout", "eval", "sample", "app", "megatron sft", "megatron rlhf"} <= set(catalogue.commands())
    megatron = arguments("megatron sft")
    assert megatron["tensor_model_parallel_size"].default == 1
    assert "expert_model_parallel_size" in megatron and "lr" in megatron and "learning_rate" not in megatron
    assert set(megatron["tuner_type"].choices or ()) == {"lora", "full", "lora_llm"}
    assert arguments("megatron rlhf")["rlhf_type"].choices == ("dpo", "kto", "grpo", "gkd", "rm")
    assert "vllm_data_parallel_size" in arguments("rollout")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("optimizer", "muonn", "muon"),
        ("loss_scale", "last_round+reakt", "react"),
        ("callbacks", ["early_stopp"], "early_stop"),
        ("template", "chatmll", "chatml"),
        ("eval_metric", "accuracy", "acc"),
    ],
)
def test_what_only_a_plugin_could_bring_is_refused_without_one(name: str, value: object, allowed: str) -> None:
    error = refusal("sft", {name: value})
    assert error.code == "argument_value"
    assert allowed in str(error.values["allowed"]).split(", ")
    assert len(str(error.values["allowed"])) < 400
    assert check("sft", {name: value, "external_plugins": ["mine.py"]})[name] == value


def test_known_values_that_are_not_all_are_only_offered() -> None:
    args: dict[str, object] = {"attn_impl": "owner/kernel", "deepspeed": "my.json", "init_weights": "pissa_niter_4"}
    assert check("sft", args) == args
    assert check("sft", {"loss_scale": "last_round+hermes+ignore_empty_think"})


# what can run here


def test_a_choice_that_cannot_run_says_why() -> None:
    reason = catalogue.unavailable("tuner_type", "bone")
    assert reason is not None and reason == "training.unavailable.peft_without_bone"
    for lang in ("en", "zh"):
        assert "PEFT" in say(reason, lang, **reason.values)
    assert catalogue.unavailable("tuner_type", "lora") is None
    assert catalogue.unavailable("optimizer", "muon") is None  # it fetches its code at the start
    assert catalogue.unavailable("no_such", "x") is None


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for name, value, package in (
        ("quant_method", "bnb", "bitsandbytes"),
        ("use_liger_kernel", True, "liger-kernel"),
        ("attn_impl", "flash_attn", "flash-attn"),
        ("reward_funcs", "accuracy", "math-verify"),
    ):
        reason = catalogue.unavailable(name, value)
        assert reason is not None and reason.values["package"] == package
        assert all(package in say(reason, lang, **reason.values) for lang in ("en", "zh"))
    assert catalogue.unavailable("use_liger_kernel", False) is None
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    assert catalogue.unavailable("quant_method", "bnb") is None


# ms-swift's own help


def test_the_help_read_at_install_is_there_by_name(tmp_path: Path) -> None:
    assert catalogue.help_of("sft", "packing", tmp_path) is None
    file = help_file(tmp_path)
    file.write_text(json.dumps({"ms_swift": "4.6.0", "help": {"sft": {"packing": "Packs 行."}}}), "utf-8")
    assert catalogue.help_of("sft", "packing", tmp_path) == "Packs 行."
    assert catalogue.help_of("sft", "no_such", tmp_path) is catalogue.help_of("pt", "packing", tmp_path) is None
    file.write_text("{ torn")
    assert catalogue.help_of("sft", "packing", tmp_path) is None


def test_the_help_is_read_out_of_fields_and_docstrings() -> None:
    class Arguments:
        """Some.

        Args:
            packing (bool): Whether to pack.
                Over two lines: yes.
            unknown (int): Not an argument.

        Other text: not an argument either.
        """

    parser = argparse.ArgumentParser()
    parser.add_argument("--packing")
    parser.add_argument("--seed", help="The   seed.")
    assert argument_help(parser, Arguments) == {"packing": "Whether to pack. Over two lines: yes.", "seed": "The seed."}
