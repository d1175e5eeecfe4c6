"""Looking through all ways of training for the best one that fits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from services.errors import Key, Refused
from services.models.facts import ModelFacts
from services.planning.as_setup import is_megatron, setup_of
from services.planning.candidates import (
    Variation,
    Wish,
    batches,
    halves,
    rescues,
    settings_of,
    strategies,
    variations,
)
from services.planning.estimate import estimate
from services.planning.megatron import megatron_command, megatron_settings
from services.planning.rules import Context, judge
from services.planning.rules.methods import qlora_reason
from services.planning.setup import Memory, Setup
from services.planning.speed import LONG, tokens_per_second
from services.swift.methods import fitted

AS_FAST = 0.95
"""What is at most this much slower counts as fast, and the more usual of the two is taken."""
FETCHES = 1.3
"""Ways that fetch the weights at every layer are taken where they promise more than this times the speed of one that
keeps them: what they gain hangs on the link, and ZeRO-2 works with every method."""
USUAL = ("single", "zero2", "fsdp2", "ddp", "zero1", "zero0", "zero3", "megatron", "device_map", "ddp+device_map",
         "zero2_offload", "zero3_offload")  # fmt: skip
"""Of two strategies that are equally fast: the one that works with most methods and takes the least setting up."""
ROOM = 0.9
"""Of what is free: more than this and offloading all that can be offloaded is preferred to offloading a part."""
HOST_SHARE = 0.9
"""Of the host's free memory: the rest is for the system and its file cache."""
SPLITS_WEIGHTS = ("fsdp2", "zero3", "zero3_offload", "megatron")


@dataclass(frozen=True)
class Candidate:
    """One way, judged and estimated."""

    variation: Variation
    command: str
    settings: Mapping[str, Any]
    setup: Setup
    changed: tuple[Key, ...] = ()
    warned: tuple[Key, ...] = ()
    expected: Memory | None = None
    worst: Memory | None = None
    fits: bool | None = None
    need: float = math.inf
    """What it needs as a share of what is free, of the card's memory or the host's: 1 and less fits."""
    host_is_short: bool = False
    """It would fit the cards, but not the host's memory."""
    speed: float = 0.0

    @property
    def strategy(self) -> str:
        return self.setup.strategy


@dataclass(frozen=True)
class Look:
    """Looking through what could be done for one wish."""

    wish: Wish
    tokens: int
    here: bool
    teacher_gib: float = 0.0

    def choose(self) -> tuple[Candidate, list[Candidate]]:
        """(the chosen way, the best of each other kind). Raises Refused where nothing may be started."""
        found = self._best_each(strategies(self.wish))
        if not any(one.fits in (True, None) for one in found):
            found += self._rescued()
        chosen = best(found)
        return chosen, self._beside(chosen, found)

    def _rescued(self) -> list[Candidate]:
        """What is tried once nothing fits: fewer bits first, for they cost the least time: 4 for what an adapter
        leaves alone, 16 for all that a full training changes."""
        found: list[Candidate] = self._best_each(self._for_quantized(), quantized=True, lenient=True)
        if halves(self.wish):
            found += self._best_each(["fsdp2"], halved=True, lenient=True)
        for names in rescues(self.wish):
            if any(one.fits for one in found):
                break
            found += self._best_each(names, lenient=True)
        return found

    def _for_quantized(self) -> list[str]:
        """Strategies for a base in 4 bits: ZeRO-3 and FSDP2 would leave it whole on each card; the experts of a
        mixture are one tensor, which bitsandbytes leaves as it is."""
        wish = self.wish
        adapter = not wish.full and wish.args.get("tuner_type", "lora") == "lora"
        stored = wish.facts.quant_method if wish.facts else None
        open_ = "quant_method" not in wish.args and stored is None and not is_megatron(wish.command)
        mixture = wish.facts is not None and wish.facts.experts > 0
        if not adapter or not open_ or mixture or qlora_reason(wish.hardware, wish.packages) is not None:
            return []
        spread = ["device_map"] if wish.cards > 1 and wish.processes in (None, 1) and wish.strategy is None else []
        return [name for name in strategies(wish) if name in ("single", "ddp", "zero2", "device_map")] + spread

    def _beside(self, chosen: Candidate, found: list[Candidate]) -> list[Candidate]:
        """Runners-up: other strategies, and what saves memory where the chosen way takes most of it."""
        others = [one for one in found if _kind(one) != _kind(chosen)]
        tried = {one.strategy for one in found}
        if chosen.fits and not chosen.variation.quantized and chosen.strategy in self._for_quantized():
            others += self._best_each([chosen.strategy], quantized=True, lenient=True)
        if chosen.fits and self.wish.facts is not None:
            untried = [name for names in rescues(self.wish) for name in names if name not in tried]
            others += self._best_each(untried, lenient=True)
        fitting = sorted((one for one in others if one.fits is not False), key=lambda one: -one.speed)
        return [*fitting, *sorted((one for one in others if one.fits is False), key=lambda one: one.need)]

    def _best_each(
        self, names: Iterable[str], *, quantized: bool = False, halved: bool = False, lenient: bool = False
    ) -> list[Candidate]:
        """The best candidate under each strategy. Raises the first Refused where none is left, unless ``lenient``."""
        found: list[Candidate] = []
        refusal: Refused | None = None
        for name in names:
            tried: list[Candidate] = []
            for variation in variations(self.wish, name, quantized, halved):
                try:
                    tried.append(self._largest_that_fits(variation))
                except Refused as error:
                    refusal = refusal or error
            if tried:
                found.append(best(tried))
        if not found and refusal is not None and not lenient:
            raise refusal
        return found

    def _largest_that_fits(self, variation: Variation) -> Candidate:
        candidate = None
        for batch in batches(self.wish, variation):
            candidate = self._candidate(variation, batch)
            if candidate.fits is not False:
                return candidate
        assert candidate is not None
        return candidate

    def _candidate(self, variation: Variation, batch: int) -> Candidate:
        wish = self.wish
        megatron = variation.strategy == "megatron"
        command = megatron_command(wish.command) if megatron else wish.command
        settings = (megatron_settings if megatron else settings_of)(wish, variation, batch)
        world = variation.ranks * wish.hardware.nodes
        settings |= fitted(settings, command, world)
        setup = setup_of(command, settings, variation.strategy, world, wish.hardware, wish.facts)
        verdict = judge(Context(command, settings, setup, wish.hardware, wish.facts, wish.packages, self.here))
        setup = setup_of(command, verdict.settings, variation.strategy, world, wish.hardware, wish.facts)
        made = Candidate(variation, command, verdict.settings, setup, verdict.changed, verdict.warned)
        return made if wish.facts is None else self._estimated(made, wish.facts)

    def _estimated(self, made: Candidate, facts: ModelFacts) -> Candidate:
        made = replace(made, setup=replace(made.setup, teacher_gib=self.teacher_gib))
        worst = estimate(facts, made.setup, made.setup.length)
        tokens = made.setup.length if made.setup.packing else self.tokens
        expected = estimate(facts, made.setup, tokens)
        long = max(tokens, made.setup.length // 2) if made.setup.length >= LONG else tokens
        speed = tokens_per_second(facts, made.setup, self.wish.hardware, long)
        on_card, on_host = worst.total / max(self.free_gib(made), 1e-9), self._host_share(worst)
        need = max(on_card, on_host)
        short = on_card <= 1 < on_host
        return replace(
            made, expected=expected, worst=worst, fits=need <= 1, need=need, host_is_short=short, speed=speed
        )  # fmt: skip

    def _host_share(self, worst: Memory) -> float:
        hardware = self.wish.hardware
        free = HOST_SHARE * hardware.host_free_gib
        return 0.0 if hardware.on_cpu else worst.host_gib / hardware.nodes / max(free, 1e-9)

    def free_gib(self, made: Candidate) -> float:
        """Of the fullest card that is used; on a CPU a rank's share."""
        hardware = self.wish.hardware
        if hardware.on_cpu:
            return hardware.host_free_gib / max(1, made.setup.processes)
        return min(gpu.free_gib for gpu in hardware.gpus)


def best(candidates: list[Candidate]) -> Candidate:
    """The fastest that fits, or one as fast that is more usual; where nothing fits, what is nearest to it."""
    fitting = [one for one in candidates if one.fits is not False]
    if not fitting:
        return _nearest(candidates)
    roomy = [one for one in fitting if one.need <= ROOM or not one.strategy.endswith("_offload")]
    fitting = roomy or fitting
    fastest = max(_promised(one) for one in fitting)
    fast = [one for one in fitting if _promised(one) >= AS_FAST * fastest]
    return min(fast, key=lambda one: (USUAL.index(one.strategy), _effort(one), -one.speed))


def _promised(one: Candidate) -> float:
    return one.speed / (FETCHES if one.strategy in ("fsdp2", "zero3") else 1.0)


def _kind(one: Candidate) -> tuple[str, bool, bool]:
    return one.strategy, one.variation.quantized, one.variation.halved


def _nearest(candidates: list[Candidate]) -> Candidate:
    """Megatron for a mixture of experts; for a full training what splits the weights too, as more cards would do."""
    mixture = [one for one in candidates if one.setup.expert_parallel > 1]
    full = [one for one in candidates if one.setup.tuner == "full" and one.strategy in SPLITS_WEIGHTS]
    return min(mixture or full or candidates, key=lambda one: one.need)


def _effort(one: Candidate) -> tuple[int, int]:
    """Of two ways under one strategy: the one that splits the model less, then the one that need not compute twice."""
    split = one.setup.tensor_parallel * one.setup.pipeline_parallel * one.setup.context_parallel
    return split, int(one.setup.checkpointing)
