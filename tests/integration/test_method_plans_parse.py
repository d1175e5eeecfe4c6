"""Every method's command and every preset's, read by the argument parser of the installed ms-swift."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from services.plan import Plan
from services.presets import presets
from services.specs import train_spec
from services.swift.methods import method_of
from tests.method_plans import CASES, method_plan, plan_of
from tests.real_parser import parse


def command_of(plan: Plan) -> str:
    return f"megatron {plan.argv[4]}" if "_megatron" in plan.argv[3] else plan.argv[4]


def wanted() -> dict[str, list[tuple[str, Plan, dict[str, Any]]]]:
    """Command -> (name, plan, the arguments of its spec)."""
    found = defaultdict(list)
    cases = [(name, method_plan(case), train_spec(case)) for name, case in CASES.items()]
    for one in presets():
        assert one.machine is not None
        cases.append((one.name, plan_of(one.spec, one.machine), one.spec))
    for name, plan, spec in cases:
        found[command_of(plan)].append((name, plan, spec.args))
    return found


WANTED = wanted()


@pytest.mark.parametrize("command", WANTED)
def test_ms_swift_understands_every_methods_and_every_presets_plan(command: str) -> None:
    cases = WANTED[command]
    answers = parse(command, [list(plan.argv[5:]) for _, plan, _ in cases])
    failed = {name: answer["error"] for (name, *_), answer in zip(cases, answers, strict=True) if "error" in answer}
    assert not failed
    for (name, _, args), answer in zip(cases, answers, strict=True):
        for argument in ("tuner_type", "rlhf_type", "beta", "reward_funcs", "quant_method", "use_dora", "loss_scale"):
            if argument in args:
                assert answer["ok"][argument] == args[argument], (name, argument)


def test_all_commands_of_training_are_among_them() -> None:
    assert set(WANTED) == {"sft", "pt", "rlhf", "megatron sft"}
    assert {method_of(command, args).name for command in WANTED for _, _, args in WANTED[command]} >= {"sft", "grpo"}
