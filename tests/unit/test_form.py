"""Spec ⇄ form: what a form means, and a spec put into a form means the same again."""

from __future__ import annotations

from typing import Any

import pytest

from gui.fields import ARGUMENTS, BOXES, TASKS, argument, is_shown
from gui.form import OURS, applied, defaults, form_spec, form_values, visible
from gui.knobs import KNOBS
from services.errors import Key, Refused
from services.planning.choose import RunnerUp
from services.planning.deepspeed import Knobs, deepspeed_config
from services.presets import first_journey
from services.specs import TrainSpec
from services.swift import catalogue
from services.swift.methods import METHODS


def typed(spec: TrainSpec) -> TrainSpec:
    """``spec`` with its arguments as ms-swift's types have them, so that 1 and "1" are the same."""
    return spec.model_copy(update={"args": catalogue.check(spec.command, spec.args)})


SPECS: dict[str, dict[str, Any]] = {
    "the first journey": first_journey().flat(),
    "full": {"tuner_type": "full", "freeze_parameters_ratio": 0.5, "trainable_parameters": ["lm_head"]},
    "qlora": {"tuner_type": "lora", "quant_method": "bnb", "quant_bits": 4, "lora_dropout": 0.0},
    "dpo": {"tuner_type": "lora", "rlhf_type": "dpo", "beta": 0.1, "rpo_alpha": 1.0, "loss_type": ["sigmoid"]},
    "grpo": {"tuner_type": "lora", "rlhf_type": "grpo", "reward_funcs": ["accuracy", "format"], "num_generations": 4},
    "gkd": {"tuner_type": "lora", "rlhf_type": "gkd", "teacher_model": "/models/a b", "lmbda": 0.5},
    "pt": {"command": "pt", "tuner_type": "full", "streaming": True, "max_steps": 100},
    "another tuner": {"tuner_type": "adalora", "adalora_target_r": 4},
    "words": {"tuner_type": "lora", "system": "You 'are' \"it\" $(x) --y", "target_modules": ["q_proj", "v_proj"]},
    "ours": {"tuner_type": "lora", "devices": ["0", "2"], "processes": 2, "name": "a b", "env": {"A": "x y", "B": "'"}},
    "hugging face": {"tuner_type": "lora", "model": "hf::Qwen/Qwen2.5-7B-Instruct"},
    "megatron": {"command": "megatron sft", "strategy": "megatron", "tuner_type": "lora", "micro_batch_size": 2,
                 "tensor_model_parallel_size": 2, "lr": 1e-4},
    "deepspeed by name": {"tuner_type": "lora", "deepspeed": "zero2"},
    "deepspeed of one's own": {"tuner_type": "lora", "deepspeed": {"zero_optimization": {"stage": 2}, "x": 1}},
    "ssh": {"tuner_type": "lora", "max_restarts": 2, "network": {"interface": "eth0", "p2p": False, "timeout_s": 600},
            "target": {"kind": "ssh", "nodes": ["a@10.0.0.1 slots=2", "a@10.0.0.2 slots=2"], "master_port": 5000}},
    "hostfile": {"tuner_type": "lora", "target": {"kind": "ssh", "nodes": "/etc/hosts file", "node_timeout_s": 10}},
    "slurm": {"tuner_type": "lora",
              "target": {"kind": "slurm", "nodes": 2, "partition": "gpu", "options": ["--exclusive"]}},
    "kubernetes": {"tuner_type": "lora", "target": {"kind": "kubernetes", "nodes": 2, "image": "x/y:1"}},
    "extra": {"tuner_type": "lora", "lora_bias": "all", "model_kwargs": {"a": [1, "b c"]}},
}  # fmt: skip


@pytest.mark.parametrize("flat", SPECS.values(), ids=SPECS.keys())
def test_a_spec_put_into_the_form_means_the_same_again(flat: dict[str, Any]) -> None:
    from services.specs import train_spec

    spec = train_spec({"dataset": ["sample"], **flat})
    again = form_spec(form_values(spec))
    assert typed(again) == typed(spec)


def test_knobs_of_deepspeed_come_back_out_of_its_configuration() -> None:
    config = deepspeed_config(2, Knobs(reduce_bucket_size=300_000_000, overlap_comm=False, offload_optimizer="cpu"))
    values = form_values(TrainSpec(strategy="zero2", args={"tuner_type": "lora", "deepspeed": config}))
    shown = [values[name] for name in ("strategy", "reduce_bucket_size", "offload_optimizer")]
    assert shown == ["zero2", "300000000", "cpu"]
    assert values["extra"] == ""
    assert form_spec(values).args["deepspeed"] == config


def test_knobs_of_a_strategy_that_has_none_are_left_out() -> None:
    values = {**defaults(), "strategy": "ddp", "reduce_bucket_size": "2e8"}
    assert "deepspeed" not in form_spec(values).args
    with pytest.raises(Refused, match="field_number"):
        form_spec({**values, "strategy": "zero2", "reduce_bucket_size": "big"})


def test_every_field_has_one_place_and_a_widgets_type() -> None:
    names = [name for box in BOXES.values() for name in box]
    assert len(names) == len(set(names))
    assert not set(names) & {*OURS, *KNOBS}
    assert all(argument(name).type != "unsettable" for name in names)


@pytest.mark.parametrize("task", TASKS)
def test_a_task_shows_its_own_fields_only_and_hidden_ones_do_not_count(task: str) -> None:
    shown = visible({**defaults(), "task": task})
    for name in BOXES["task"]:
        assert shown[name] is is_shown(name, task, "lora")
        assert shown[name] is (name in METHODS[task].fields)
    values = {**defaults(), "task": task, **dict.fromkeys(BOXES["task"], "")}
    values |= {"beta": "0.3", "reward_funcs": "accuracy", "teacher_model": "x"}
    args = form_spec(values).args
    assert {"beta", "reward_funcs", "teacher_model"} & args.keys() == {
        name for name in ("beta", "reward_funcs", "teacher_model") if name in METHODS[task].fields
    }


def test_an_untouched_form_leaves_to_the_planner_what_depends_on_the_machine() -> None:
    args = form_spec(defaults()).args
    assert set(args) == {"tuner_type", "num_train_epochs"}


def test_another_way_of_the_planner_fills_the_form() -> None:
    way = RunnerUp("zero2", 2, {"per_device_train_batch_size": 2, "gradient_checkpointing": True, "deepspeed": "zero2"},
                   None, None, None, 1.0, Key("x"))  # fmt: skip
    values = applied({**defaults(), "learning_rate": "3e-5"}, way)
    assert (values["strategy"], values["processes"], values["per_device_train_batch_size"]) == ("zero2", "2", "2")
    assert values["gradient_checkpointing"] == "true"
    assert values["learning_rate"] == "3e-5"
    assert values["extra"] == ""


def test_an_argument_with_a_field_of_its_own_is_not_taken_twice() -> None:
    with pytest.raises(Refused, match="argument_has_field"):
        form_spec({**defaults(), "extra": "--learning_rate 1"})
    assert all(name in ARGUMENTS for name in ("learning_rate", "beta"))


def test_a_form_without_data_does_not_fall_back_to_the_sample() -> None:
    assert form_spec({**defaults(), "dataset": []}).dataset == ()
