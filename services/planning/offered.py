"""Which methods and strategies a form offers, and a code why some cannot run here: asked of the table of rules."""

from __future__ import annotations

from dataclasses import dataclass

from services.hardware.machine import Machine
from services.planning.machine import hardware_of
from services.planning.packages import installed
from services.planning.rules import strategy_reason
from services.planning.rules.methods import qlora_reason

METHODS = ("lora", "full", "qlora")
STRATEGIES = ("single", "ddp", "zero2", "zero3", "fsdp2")
ON_SEVERAL_CARDS = ("device_map", "zero2_offload", "zero3_offload", "megatron")


@dataclass(frozen=True)
class Choice:
    """A strategy or a method; ``training.reason.<reason>`` says why it cannot run here."""

    name: str
    reason: str | None = None


def strategies(machine: Machine) -> list[Choice]:
    """The strategies worth showing on ``machine``, those that cannot run with the reason."""
    names = STRATEGIES + (ON_SEVERAL_CARDS if len(machine.cards) > 1 else ())
    hardware = hardware_of(machine)
    return [Choice(name, strategy_reason(name, hardware, installed())) for name in names]


def methods(machine: Machine) -> list[Choice]:
    """LoRA, full and QLoRA, with the reason where one cannot run on ``machine``."""
    reason = qlora_reason(hardware_of(machine), installed())
    return [Choice(name, reason if name == "qlora" else None) for name in METHODS]
