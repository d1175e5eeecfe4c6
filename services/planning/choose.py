"""From what a person wants to how it is trained best on some hardware, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from services.errors import Key, Refused
from services.models.facts import ModelFacts
from services.planning.as_setup import is_megatron
from services.planning.candidates import Wish
from services.planning.megatron import known_arguments
from services.planning.reasons import reasons_of, runner_up_cost
from services.planning.rules.saving import eval_strategy
from services.planning.search import AS_FAST, Candidate, Look
from services.planning.setup import Hardware, Memory, Setup
from services.specs import TrainSpec
from services.swift import catalogue, commands
from services.units import GIB

EXPECTED_TOKENS = 512
"""Of a row whose data set was not checked."""
RUNNERS_UP = 5
MUCH_LESS = 0.8
"""A card with less than this share of what the next one has free may stay out of it."""


@dataclass(frozen=True)
class RunnerUp:
    """Another way, and what it costs beside the chosen one."""

    strategy: str
    processes: int
    """Ranks on each machine."""
    settings: Mapping[str, Any]
    """What differs from the chosen settings: put into the spec's arguments, with ``strategy``, it chooses this way."""
    expected: Memory | None
    worst: Memory | None
    fits: bool | None
    speed: float
    """Tokens a second as a multiple of the chosen way's."""
    cost: Key


@dataclass(frozen=True)
class Advice:
    """How a spec is trained on some hardware, why, and what it takes."""

    command: str
    """ms-swift's command: the spec's, or its Megatron twin."""
    strategy: str
    processes: int
    """Ranks on each machine."""
    nodes: int
    devices: tuple[str, ...]
    """The cards it may use, by their numbers: those of the spec, else all but those that others have filled."""
    settings: Mapping[str, Any]
    """Every argument that ms-swift is given beside model, data and places: the person's and TuneDesk's."""
    setup: Setup
    reasons: tuple[Key, ...]
    """Two sentences."""
    expected: Memory | None
    """At the mean length of a row; None where the model's size is not known."""
    worst: Memory | None
    """With every row as long as max_length."""
    free_gib: float
    """What a card (on a CPU: a rank) may take: the free memory of the fullest one."""
    fits: bool | None
    """By the worst case; None where the model's size is not known."""
    tokens: int
    runners_up: tuple[RunnerUp, ...] = ()
    changed: tuple[Key, ...] = ()
    """What of the person's settings was changed, and why."""
    warned: tuple[Key, ...] = ()


def advise(
    spec: TrainSpec,
    facts: ModelFacts | None,
    hardware: Hardware,
    packages: frozenset[str],
    *,
    tokens: int | None = None,
    rows: int | None = None,
    here: bool = True,
    teacher: ModelFacts | None = None,
) -> Advice:
    """The best way to train ``spec`` on ``hardware``. What the spec fixes stays as it is.

    ``tokens`` is the mean length of a row, ``rows`` their number; ``here`` is False for a described machine;
    ``teacher`` is the model that GKD learns from. Raises Refused for arguments that ms-swift does not know and by the
    table of rules.
    """
    whole = narrowed(hardware, spec.devices)
    args = checked(spec)
    wish = Wish(spec.command, args, facts, whole, packages, named_strategy(spec, args), spec.processes)
    expected = min(spec.expected_tokens or tokens or EXPECTED_TOKENS, wish.length)
    wish = replace(wish, tokens=expected)
    teacher_gib = teacher.bytes / GIB if teacher is not None else 0.0
    groups = [whole] if spec.devices is not None or facts is None else freest(whole, spec.processes or 1)
    look, chosen, others = _best_group(
        [Look(replace(wish, hardware=group), expected, here, teacher_gib) for group in groups]
    )
    wish, hardware = look.wish, look.wish.hardware
    others = [other for other in others if other is not chosen]
    settings = with_saving(chosen, rows)
    return Advice(
        command=chosen.command,
        strategy=chosen.strategy,
        processes=chosen.variation.ranks,
        nodes=hardware.nodes,
        devices=tuple(gpu.index for gpu in hardware.gpus),
        settings=settings,
        setup=chosen.setup,
        reasons=reasons_of(chosen, wish, look.free_gib(chosen), look.tokens),
        expected=chosen.expected,
        worst=chosen.worst,
        free_gib=look.free_gib(chosen),
        fits=chosen.fits,
        tokens=look.tokens,
        runners_up=tuple(_runner_up(other, chosen) for other in others[:RUNNERS_UP]),
        changed=chosen.changed,
        warned=(*_left_out(whole, hardware), *chosen.warned),
    )


def freest(hardware: Hardware, least: int) -> list[Hardware]:
    """``hardware`` whole, and without the cards that have much less free than the next ones, but ``least`` at least."""
    if hardware.nodes > 1:
        return [hardware]
    cards = sorted(hardware.gpus, key=lambda gpu: -gpu.free_gib)
    cuts = [
        count
        for count in range(len(cards) - 1, least - 1, -1)
        if cards[count].free_gib < MUCH_LESS * cards[count - 1].free_gib
    ]
    kept = [{gpu.index for gpu in cards[:count]} for count in cuts]
    return [
        hardware,
        *(replace(hardware, gpus=tuple(gpu for gpu in hardware.gpus if gpu.index in some)) for some in kept),
    ]


def _best_group(looks: list[Look]) -> tuple[Look, Candidate, list[Candidate]]:
    """The group of cards on which the training is fastest; more of them where fewer are hardly faster. Raises the
    Refused of all cards together where no group may be used."""
    found = []
    refusal: Refused | None = None
    for look in looks:
        try:
            found.append((look, *look.choose()))
        except Refused as error:
            refusal = refusal or error
    if refusal is not None and (not found or len(looks) == 1):
        raise refusal
    fitting = [one for one in found if one[1].fits is not False]
    if not fitting:
        return min(found, key=lambda one: one[1].need)
    fastest = max(one[1].speed for one in fitting)
    return next(one for one in fitting if one[1].speed >= AS_FAST * fastest)


def _left_out(whole: Hardware, used: Hardware) -> tuple[Key, ...]:
    """The cards that stay out of it, said."""
    kept = {gpu.index for gpu in used.gpus}
    out = [gpu for gpu in whole.gpus if gpu.index not in kept]
    if not out:
        return ()
    free, least = max(gpu.free_gib for gpu in out), min(gpu.free_gib for gpu in used.gpus)
    names = ", ".join(gpu.index for gpu in out)
    return (Key("planning.cards_left_out", cards=names, free=round(free, 1), least=round(least, 1)),)


def narrowed(hardware: Hardware, devices: tuple[str, ...] | None) -> Hardware:
    """``hardware`` with the chosen cards only. Raises Refused("card_not_there")."""
    if devices is None:
        return hardware
    known = {gpu.index: gpu for gpu in hardware.gpus}
    for device in devices:
        if device not in known:
            raise Refused("card_not_there", card=device, cards=", ".join(known) or "–")
    return replace(hardware, gpus=tuple(known[device] for device in devices))


def checked(spec: TrainSpec) -> dict[str, Any]:
    """The spec's arguments, every name known to its command and every value of its type."""
    known = known_arguments(spec.command)
    return dict(catalogue.check(spec.command, spec.args)) if known is not None else dict(spec.args)


def named_strategy(spec: TrainSpec, args: Mapping[str, Any]) -> str | None:
    """The strategy that the spec or an argument in it names; None: open. Raises Refused("strategy_contradicts")."""
    given = {name: args.get(name) for name in ("deepspeed", "fsdp")}
    if spec.strategy == "megatron" or is_megatron(spec.command):
        sharded = given["deepspeed"] or given["fsdp"]
        if sharded or spec.strategy not in ("auto", "megatron"):
            other = _name(sharded) if sharded else spec.strategy
            raise Refused("strategy_contradicts", strategy="megatron", given=other)
        return "megatron"
    implied = _stage_of(given["deepspeed"]) if given["deepspeed"] else "fsdp2" if given["fsdp"] else None
    if spec.strategy == "auto":
        return implied
    if implied is not None and spec.strategy != implied:
        raise Refused("strategy_contradicts", strategy=spec.strategy, given=_name(given["deepspeed"] or given["fsdp"]))
    return spec.strategy


def _name(value: object) -> str:
    return value if isinstance(value, str) else "DeepSpeed / FSDP { … }"


def _stage_of(deepspeed: object) -> str:
    """The strategy that a value of ``deepspeed`` comes to: a name, or a configuration as a mapping or a file."""
    if isinstance(deepspeed, Mapping):
        zero = deepspeed.get("zero_optimization") or {}
        stage = int(zero.get("stage") or 0)
        offload = any((zero.get(part) or {}).get("device") == "cpu" for part in ("offload_optimizer", "offload_param"))
        return f"zero{stage}" + ("_offload" if offload and stage >= 2 else "")
    return deepspeed if isinstance(deepspeed, str) and deepspeed in commands.DEEPSPEED else "zero2"


def _runner_up(other: Candidate, chosen: Candidate) -> RunnerUp:
    relative = other.speed / chosen.speed if chosen.speed else 0.0
    implied = {"deepspeed", "fsdp"} | ({"gradient_checkpointing"} if other.strategy == "fsdp2" else set())
    same_words = is_megatron(other.command) == is_megatron(chosen.command)  # else its strategy says it all
    differs = {
        name: value
        for name, value in other.settings.items()
        if same_words and name not in implied and chosen.settings.get(name) != value
    }
    if chosen.variation.halved and other.strategy == "fsdp2":
        differs["bf16"] = True  # else FSDP2 would be tried in bfloat16 alone again
    return RunnerUp(
        strategy=other.strategy,
        processes=other.variation.ranks,
        settings=differs,
        expected=other.expected,
        worst=other.worst,
        fits=other.fits,
        speed=relative,
        cost=runner_up_cost(other, chosen, relative),
    )


def with_saving(chosen: Candidate, rows: int | None) -> dict[str, Any]:
    """The settings with how often to save and to log; a save falls on an evaluation where the best is kept."""
    settings = dict(chosen.settings)
    total = commands.total_steps(settings, rows, chosen.setup.copies) if not is_megatron(chosen.command) else None
    every = commands.safe_save_steps(total)
    evaluates = settings.get("eval_steps")
    if settings.get("load_best_model_at_end") and evaluates and eval_strategy(settings) == "steps":
        every = int(evaluates) * max(1, round(every / int(evaluates))) if evaluates >= 1 else evaluates
    settings.setdefault("save_steps", every)
    settings.setdefault("logging_steps", max(1, min(5, (total or 100) // 20)))
    return settings
