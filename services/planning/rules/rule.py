"""The nouns of the rule table: a Rule, and the Context it is judged in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from services.models.facts import ModelFacts
from services.planning.setup import Hardware, Setup

Outcome = Literal["refused", "changed", "warned"]
Values = Mapping[str, object]

SWIFT = "ms-swift 4.6.0"
TRANSFORMERS = "transformers 5.19.0"
ACCELERATE = "accelerate 1.15.0"


@dataclass(frozen=True)
class Context:
    """All that a rule may look at."""

    command: str
    settings: Mapping[str, Any]
    """What ms-swift is given: the person's arguments over TuneDesk's."""
    setup: Setup
    hardware: Hardware
    facts: ModelFacts | None = None
    """None: the model's size is not known."""
    packages: frozenset[str] = field(default_factory=frozenset)
    """The optional packages that are there, of services/planning/packages.py."""
    here: bool = True
    """False for a described machine: its files and packages are not to be looked for on this one."""

    @property
    def megatron(self) -> bool:
        return self.setup.strategy == "megatron"

    @property
    def stage(self) -> int | None:
        """The ZeRO stage, also of a configuration given as a mapping; None without DeepSpeed."""
        given = self.settings.get("deepspeed")
        if isinstance(given, Mapping):
            return int((given.get("zero_optimization") or {}).get("stage") or 0)
        name = self.setup.strategy if self.setup.strategy.startswith("zero") else str(given or "")
        return int(name[4]) if name.startswith("zero") and name[4:5].isdigit() else None

    @property
    def deepspeed(self) -> bool:
        return bool(self.settings.get("deepspeed")) or self.setup.strategy.startswith("zero")

    @property
    def fsdp(self) -> bool:
        return bool(self.settings.get("fsdp")) or self.setup.strategy == "fsdp2"

    @property
    def spread(self) -> bool:
        """Each rank has its model spread over several cards."""
        return self.setup.strategy in ("device_map", "ddp+device_map")

    def whole(self, name: str, default: int = 1) -> int:
        """A setting as a whole number; ``default`` where it is open or no number."""
        try:
            return int(float(self.settings.get(name) or default))
        except (TypeError, ValueError, OverflowError):
            return default


@dataclass(frozen=True)
class Rule:
    """One rule. Its sentence is ``error.<code>`` where it refuses, else ``planning.rule.<code>``."""

    code: str
    outcome: Outcome
    source: str
    """Where ms-swift or a library below it raises, changes or suffers what the rule tells: name, version, function."""
    applies: Callable[[Context], Values | None]
    """The values of the sentence, None where all is well. May itself raise Refused with a code of its own."""
    sets: Callable[[Context], Mapping[str, Any]] = field(default=lambda _: {})
    """For ``changed``: the arguments that are set instead."""
