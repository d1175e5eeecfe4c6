"""Each choice of ms-swift's main arguments is tried, and marks.json says how it went.

``python -m pytest tests/real/test_marks.py`` says which mark is not true (any more); they are written by hand.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from services.bootstrap import Services
from services.swift import catalogue
from services.swift.marks import lacking, marks, unavailable, versions
from tests.real.methods import Outcome, train_all

GRPO = {"rlhf_type": "grpo", "reward_funcs": ["letters"], "max_completion_length": 8}
EVALUATED = {"split_dataset_ratio": 0.2, "eval_strategy": "steps", "eval_steps": 1}
BEHIND: dict[tuple[str, str], dict[str, Any]] = {
    ("quant_method", "bnb"): {"quant_bits": 4},
    ("quant_method", "hqq"): {"quant_bits": 4},
    ("quant_method", "eetq"): {"quant_bits": 8},
    ("quant_method", "quanto"): {"quant_bits": 4},
    ("optimizer", "galore"): {"use_galore": True, "galore_rank": 8},
    ("tuner_type", "adalora"): {"max_steps": 3},
    ("tuner_type", "llamapro"): {"llamapro_num_new_blocks": 2},
    ("reward_funcs", "soft_overlong"): {"soft_cache_length": 4},
    ("lr_scheduler_type", "cosine_with_min_lr"): {"lr_scheduler_kwargs": {"min_lr": 1e-6}},
    ("lr_scheduler_type", "cosine_warmup_with_min_lr"): {"lr_scheduler_kwargs": {"min_lr": 1e-6}, "warmup_steps": 1},
    ("lr_scheduler_type", "warmup_stable_decay"): {"lr_scheduler_kwargs": {"num_decay_steps": 1}, "warmup_steps": 1},
    ("lr_scheduler_type", "reduce_lr_on_plateau"): EVALUATED,
    ("lr_scheduler_type", "greedy"): EVALUATED,
    ("eval_metric", "acc"): EVALUATED,
    ("eval_metric", "nlg"): {"predict_with_generate": True, "max_new_tokens": 4, **EVALUATED},
}  # fmt: skip
"""What a choice needs beside it to be tried at all."""
OF_MODULES = ("galore", "apollo", "lomo")
"""Optimizers that need full training, and to be told the modules."""


def case_of(name: str, choice: str, folder: Path) -> dict[str, Any]:
    """The spec that a choice is tried with."""
    if name == "reward_funcs" or choice == "grpo":
        return {**GRPO, "external_plugins": [str(folder / "letters.py")]}
    if choice == "gkd":
        return {
            "rlhf_type": "gkd", "teacher_model": str(folder / "tiny"), "teacher_model_type": "llama",
            "max_completion_length": 8,
        }  # fmt: skip
    if choice == "ppo":
        judge = {"reward_model": [str(folder / "judge")], "reward_model_type": ["llama"]}
        return {"rlhf_type": "ppo", "max_completion_length": 8, "num_sample_generations": 1, **judge}
    if name == "rlhf_type":
        return {"rlhf_type": choice}
    full = name in ("optim", "optimizer") and any(word in choice for word in OF_MODULES)
    return {"tuner_type": "full"} if full else {}


def words_of(name: str, choice: str) -> list[str]:
    """What is put behind the plan: the choice itself, that no check of ours may refuse."""
    short = {"max_steps": 1, "save_strategy": "no"}
    if name == "rlhf_type":
        return catalogue.to_argv(short)
    modules = {"optim_target_modules": "all-linear"} if any(word in choice for word in OF_MODULES) else {}
    return catalogue.to_argv({**short, name: choice, **modules, **BEHIND.get((name, choice), {})})


def tried() -> list[tuple[str, str]]:
    """All but those that need another model, or the network."""
    untried = ("fetches", "only multimodal")
    return [(name, choice) for name, known in marks().items() for choice, mark in known.items() if mark not in untried]


@pytest.fixture(scope="module")
def outcomes(services: Services, folder: Path) -> dict[str, Outcome]:
    _make_judge(folder)
    cases = {f"{name} {choice}": case_of(name, choice, folder) for name, choice in tried()}
    behind = {f"{name} {choice}": words_of(name, choice) for name, choice in tried()}
    return train_all(services, folder, cases, behind)


def _make_judge(folder: Path) -> None:
    """The tiny model as one that scores."""
    judge = shutil.copytree(folder / "tiny", folder / "judge")
    config = json.loads((judge / "config.json").read_bytes())
    config |= {"architectures": ["LlamaForSequenceClassification"], "num_labels": 1}
    (judge / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(("name", "choice"), tried())
def test_the_mark_of_a_choice_is_true(name: str, choice: str, outcomes: dict[str, Outcome]) -> None:
    outcome, mark = outcomes[f"{name} {choice}"], marks()[name][choice]
    if mark == "runs" or (mark.startswith("needs ") and not lacking(mark)):
        assert not outcome.error, outcome.log
    else:
        assert outcome.error


def test_the_marks_are_of_the_installed_versions() -> None:
    installed = {name: importlib.metadata.version(name) for name in ("ms-swift", "peft", "transformers")}
    assert versions() == ", ".join(f"{name} {version}" for name, version in installed.items())


def test_every_choice_of_a_marked_argument_has_a_mark() -> None:
    for name, known in marks().items():
        argument = catalogue.arguments("rlhf")[name]
        offered = {str(one) for one in argument.choices or argument.known} or {"true"}
        assert offered <= set(known) or name == "report_to", name


def test_what_cannot_run_is_told_with_its_reason() -> None:
    for name, known in marks().items():
        for choice, mark in known.items():
            reason = unavailable(name, True if choice == "true" and name == "use_liger_kernel" else choice)
            assert (reason is not None) == (mark.startswith("not ") or bool(lacking(mark))), (name, choice)
            assert (unavailable(name, choice, on_cpu=True) is None) == (reason is None and mark != "only cards")
