"""Every method and tuner really trains a tiny model, with the words of the product's own plans."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from safetensors.numpy import load_file

from services.bootstrap import Services
from tests.real.methods import Outcome, train_all

GRPO = {"rlhf_type": "grpo", "reward_funcs": ["letters"], "max_completion_length": 8, "temperature": 1.0}
METHODS: dict[str, dict[str, Any]] = {
    "sft": {},
    "pt": {"command": "pt"},
    "dpo": {"rlhf_type": "dpo"},
    "dpo-full": {"rlhf_type": "dpo", "tuner_type": "full"},
    "orpo": {"rlhf_type": "orpo"},
    "simpo": {"rlhf_type": "simpo"},
    "cpo": {"rlhf_type": "cpo"},
    "kto": {"rlhf_type": "kto"},
    "rm": {"rlhf_type": "rm"},
    "grpo": GRPO,
    "gkd": {"rlhf_type": "gkd", "max_completion_length": 8, "lmbda": 0.5},
}
TUNERS: dict[str, dict[str, Any]] = {
    "full": {"tuner_type": "full"},
    "dora": {"use_dora": True},
    "rslora": {"use_rslora": True},
    "pissa": {"init_weights": "pissa"},
    "lora-plus": {"lorap_lr_ratio": 16, "learning_rate": 1e-4},
    "half-frozen": {"tuner_type": "full", "freeze_parameters_ratio": 0.5},
    "norm-only": {"tuner_type": "full", "freeze_parameters": ["model"], "trainable_parameters": ["model.norm"]},
    "neftune": {"neftune_noise_alpha": 5, "loss_scale": "last_round"},
    "evaluated": {
        "split_dataset_ratio": 0.2, "eval_strategy": "steps", "eval_steps": 1, "save_steps": 1,
        "load_best_model_at_end": True, "metric_for_best_model": "loss", "early_stop_interval": 5,
    },
}  # fmt: skip
CASES = {**METHODS, **TUNERS}


@pytest.fixture(scope="module")
def trained(services: Services, folder: Path) -> dict[str, Outcome]:
    plugin, teacher = str(folder / "letters.py"), str(folder / "tiny")
    plugin_of = {"grpo": {"external_plugins": [plugin]}}
    teacher_of = {"gkd": {"teacher_model": teacher, "teacher_model_type": "llama"}}
    cases = {name: {**case, **plugin_of.get(name, {}), **teacher_of.get(name, {})} for name, case in CASES.items()}
    return train_all(services, folder, cases)


@pytest.fixture(scope="module")
def base(folder: Path, trained: dict[str, Outcome]) -> dict[str, numpy.ndarray]:
    weights: dict[str, numpy.ndarray] = load_file(folder / "tiny" / "model.safetensors")
    return weights


@pytest.mark.parametrize("name", CASES)
def test_it_trains_to_its_end_with_a_finite_loss_at_every_step(name: str, trained: dict[str, Outcome]) -> None:
    outcome = trained[name]
    assert not outcome.error, outcome.log.read_text("utf-8", "replace")[-4000:]
    assert len(outcome.losses) == 3
    assert all(math.isfinite(loss) for loss in outcome.losses)
    assert all(log["grad_norm"] > 0 for log in outcome.logs if "grad_norm" in log)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.get("tuner_type") != "full"])
def test_an_adapter_is_saved_and_has_learnt(name: str, trained: dict[str, Outcome]) -> None:
    weights = trained[name].weights()
    taught = [key for key, value in weights.items() if "lora_B" in key and value.any()]
    assert len(taught) == 14  # seven linear layers in each of two blocks
    assert not [key for key in weights if "embed_tokens" in key or "lm_head" in key]


@pytest.mark.parametrize("name", ["full", "dpo-full"])
def test_full_training_changes_every_weight(
    name: str, trained: dict[str, Outcome], base: dict[str, numpy.ndarray]
) -> None:
    weights = trained[name].weights()
    assert set(weights) == set(base)
    assert not [key for key, value in base.items() if numpy.array_equal(value, weights[key])]


def test_freezing_a_share_leaves_the_first_layers_as_they_were(
    trained: dict[str, Outcome], base: dict[str, numpy.ndarray]
) -> None:
    weights = trained["half-frozen"].weights()
    same = {key for key, value in base.items() if numpy.array_equal(value, weights[key])}
    assert "model.embed_tokens.weight" in same and any("layers.0." in key for key in same)
    assert not any("layers.1." in key for key in same)


def test_naming_what_trains_leaves_all_else_as_it_was(
    trained: dict[str, Outcome], base: dict[str, numpy.ndarray]
) -> None:
    weights = trained["norm-only"].weights()
    assert [key for key, value in base.items() if not numpy.array_equal(value, weights[key])] == ["model.norm.weight"]


def test_dora_learns_magnitudes_too(trained: dict[str, Outcome]) -> None:
    assert trained["dora"].adapter_config()["use_dora"] is True
    assert len([key for key in trained["dora"].weights() if "magnitude" in key]) == 14


def test_rslora_scales_by_the_root_of_the_rank(trained: dict[str, Outcome]) -> None:
    config = trained["rslora"].adapter_config()
    assert (config["use_rslora"], config["lora_alpha"], config["r"]) == (True, 16, 8)


def test_pissa_starts_from_the_largest_directions(trained: dict[str, Outcome]) -> None:
    assert trained["pissa"].losses[0] == pytest.approx(trained["sft"].losses[0], rel=1e-3)
    plain = trained["pissa"].checkpoint / "converted" / "default" / "adapter_config.json"
    assert json.loads(plain.read_bytes())["r"] == 16  # what was learnt beside what was split off, over the same model
    assert trained["pissa"].adapter_config()["init_lora_weights"] == "pissa"


def test_lora_plus_gives_b_its_own_rate(trained: dict[str, Outcome]) -> None:
    assert sorted(set(trained["lora-plus"].rates)) == pytest.approx([1e-4, 16e-4])
    assert sorted(set(trained["sft"].rates)) == pytest.approx([1e-3])


def test_a_reward_model_gets_a_head_that_scores(trained: dict[str, Outcome]) -> None:
    heads = [value for key, value in trained["rm"].weights().items() if "score" in key]
    assert [value.shape for value in heads] == [(1, 64)]


def test_grpo_is_rewarded_and_preferences_are_measured(trained: dict[str, Outcome]) -> None:
    assert any(0 < log["reward"] < 1 for log in trained["grpo"].logs if "reward" in log)
    for name in ("dpo", "orpo", "simpo", "cpo"):
        assert any("rewards/margins" in log for log in trained[name].logs), name


def test_evaluation_finds_the_best_checkpoint(trained: dict[str, Outcome]) -> None:
    state = json.loads((trained["evaluated"].checkpoint / "trainer_state.json").read_bytes())
    assert state["best_model_checkpoint"] and math.isfinite(state["best_metric"])
