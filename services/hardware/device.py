"""The part of a machine that a plan depends on."""

from __future__ import annotations

from services.hardware.machine import Machine
from services.swift.commands import Device


def device_of(machine: Machine) -> Device:
    """The cards by their numbers, what kind they are, and the cores."""
    return Device(
        cards=tuple(str(card.index) for card in machine.cards),
        kind=machine.cards[0].kind if machine.cards else "gpu",
        cores=machine.cores,
    )
