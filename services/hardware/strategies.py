"""Which ways of training can run on a machine, and a code why the others cannot."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from services.hardware.machine import Machine
from services.swift.commands import DEEPSPEED, Device

METHODS = ("lora", "full", "qlora")
STRATEGIES = ("single", "ddp", "zero2", "zero3", "fsdp2")
ON_SEVERAL_CARDS = ("device_map", "zero2_offload", "zero3_offload")


@dataclass(frozen=True)
class Choice:
    """A strategy or a method; ``training.reason.<reason>`` says why it cannot run here."""

    name: str
    reason: str | None = None


def strategies(machine: Machine) -> list[Choice]:
    """The strategies worth showing on ``machine``, those that cannot run with the reason."""
    names = STRATEGIES + (ON_SEVERAL_CARDS if len(machine.cards) > 1 else ())
    return [Choice(name, strategy_reason(name, machine)) for name in names]


def methods(machine: Machine) -> list[Choice]:
    """LoRA, full and QLoRA, with the reason where one cannot run on ``machine``."""
    return [Choice(name, method_reason(name, machine)) for name in METHODS]


def strategy_reason(name: str, machine: Machine) -> str | None:
    """Why ``name`` cannot run on ``machine``, also for strategies that are not shown; None: it can."""
    if name == "single":
        return None
    if not machine.cards:
        return _reason_on_cpu(name, machine)
    if len(machine.cards) == 1 and not name.startswith("zero"):
        return "one_card"
    if name.endswith("_offload") and not machine.has_cxx_compiler:
        return "needs_gxx"
    return None


def _reason_on_cpu(name: str, machine: Machine) -> str | None:
    if name in ON_SEVERAL_CARDS:
        return "no_cards"
    if name == "zero3":
        return "zero3_cpu"
    if machine.cores < 2:
        return "one_core"
    if name.startswith("zero") and not machine.has_cxx_compiler:
        return "needs_gxx"
    return None


def method_reason(name: str, machine: Machine) -> str | None:
    """Why the method ``name`` cannot run on ``machine``; None: it can."""
    if name != "qlora":
        return None
    if not any(card.kind == "gpu" for card in machine.cards):
        return "qlora_needs_card"
    if importlib.util.find_spec("bitsandbytes") is None:
        return "qlora_needs_package"
    return None


def device_of(machine: Machine) -> Device:
    """The part of a machine that a plan depends on."""
    names = ("single", "ddp", "device_map", "ddp+device_map", "fsdp2", *DEEPSPEED)
    reasons = {name: strategy_reason(name, machine) for name in names}
    return Device(
        cards=tuple(str(card.index) for card in machine.cards),
        kind=machine.cards[0].kind if machine.cards else "gpu",
        cores=machine.cores,
        impossible={name: reason for name, reason in reasons.items() if reason is not None},
    )
