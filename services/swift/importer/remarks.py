"""What a person should know before they start an imported command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.errors import Key
from services.swift import catalogue
from services.swift.importer.as_spec import TRAINING_COMMANDS
from services.swift.importer.text import Said

PREFERENCE = ("dpo", "kto", "grpo", "orpo", "simpo", "ppo")
TUNEDESK_SETS = ("num_train_epochs", "per_device_train_batch_size", "gradient_accumulation_steps", "learning_rate",
                 "max_length", "lora_rank", "lora_alpha")  # fmt: skip
"""Where a command says nothing, TuneDesk starts with values of its own for these."""


def remarks(command: str, settings: Mapping[str, Any]) -> list[Said]:
    """What a person should know before they start it."""
    found: list[Key] = []
    if command in TRAINING_COMMANDS:
        if "tuner_type" not in settings:
            default = "full" if command.startswith("megatron") else "lora"
            found.append(Key("importing.tuner_default", tuner=default))
        if settings.get("quant_bits") and not settings.get("quant_method"):
            found.append(Key("importing.quant_bits_alone"))
        names = [kind for kind in PREFERENCE if _mentions(settings, kind)]
        if command in ("sft", "megatron sft") and names:
            found.append(Key("importing.not_preference", kind=names[0]))
        found += _defaults(command, settings)
    return [Said(key) for key in found]


def _defaults(command: str, settings: Mapping[str, Any]) -> list[Key]:
    try:
        known = catalogue.arguments(command)
    except KeyError:
        return []
    if command.startswith("megatron"):
        return []
    open_ones = [name for name in TUNEDESK_SETS if name not in settings and name in known]
    shown = ", ".join(f"{name}={known[name].default}" for name in open_ones if known[name].default is not None)
    return [Key("importing.defaults", names=shown)] if shown else []


def _mentions(settings: Mapping[str, Any], kind: str) -> bool:
    texts = [str(settings.get("output_dir", "")), *map(str, settings.get("dataset") or [])]
    return any(kind in text.lower().replace("/", "-").replace("_", "-").split("-") for text in texts)
