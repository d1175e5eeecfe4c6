from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest

from services.hardware.cards import Card
from services.hardware.machine import Machine
from services.planning.offered import METHODS, ON_SEVERAL_CARDS, STRATEGIES, methods, strategies
from services.text import say

CPU = Machine(
    cores=4,
    cpu_percent=0,
    memory_total=1,
    memory_used=0,
    disk_total=1,
    disk_free=1,
    cards=(),
    has_cxx_compiler=True,
    has_bf16=False,
)
GPU = Card(0, "NVIDIA H200", "gpu", 0.0, 0, 1)
NPU = Card(0, "Ascend 910B3", "npu", 0.0, 0, 1)


def reasons(machine: Machine) -> dict[str, str | None]:
    return {choice.name: choice.reason for choice in strategies(machine)}


def test_a_cpu_with_a_compiler_runs_all_but_zero3() -> None:
    assert reasons(CPU) == {"single": None, "ddp": None, "zero2": None, "zero3": "zero3_cpu", "fsdp2": None}


def test_zero2_on_a_cpu_needs_a_compiler_and_nothing_else_does() -> None:
    found = reasons(replace(CPU, has_cxx_compiler=False))
    assert found["zero2"] == "needs_gxx"
    assert found["ddp"] is found["fsdp2"] is None


def test_one_core_runs_a_single_process_only() -> None:
    found = reasons(replace(CPU, cores=1))
    assert [name for name, reason in found.items() if reason is None] == ["single"]
    assert found["ddp"] == found["zero2"] == found["fsdp2"] == "one_core"


def test_several_cards_run_everything() -> None:
    found = reasons(replace(CPU, cards=(GPU, replace(GPU, index=1))))
    assert list(found) == [*STRATEGIES, *ON_SEVERAL_CARDS]
    assert {name for name, reason in found.items() if reason is not None} <= {"megatron"}


def test_one_card_has_nothing_to_share() -> None:
    found = reasons(replace(CPU, cards=(GPU,)))
    assert found["single"] is None
    assert found["ddp"] == found["fsdp2"] == "one_card"
    assert not set(ON_SEVERAL_CARDS) & set(found)


@pytest.mark.parametrize(
    ("cards", "installed", "reason"),
    [
        ((), True, "qlora_needs_card"),
        ((NPU,), True, "qlora_needs_card"),
        ((GPU,), False, "qlora_needs_package"),
        ((GPU,), True, None),
    ],
)
def test_qlora_needs_an_nvidia_card_and_its_package(
    cards: tuple[Card, ...], installed: bool, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if installed else None)
    found = {choice.name: choice.reason for choice in methods(replace(CPU, cards=cards))}
    assert list(found) == list(METHODS)
    assert (found["lora"], found["full"], found["qlora"]) == (None, None, reason)


def test_every_reason_has_a_sentence_in_both_languages() -> None:
    codes = ("needs_gxx", "zero3_cpu", "one_core", "one_card", "no_cards", "qlora_needs_card", "qlora_needs_package")
    for code in codes:
        english, chinese = (say(f"training.reason.{code}", lang) for lang in ("en", "zh"))
        assert english.endswith(".") and chinese.endswith("。")
