"""Why a way of training was chosen, in two sentences, and what another one costs."""

from __future__ import annotations

from services.errors import Key
from services.planning.as_setup import rows_a_step
from services.planning.candidates import Wish
from services.planning.search import Candidate
from services.planning.speed import LONG


def reasons_of(chosen: Candidate, wish: Wish, free_gib: float, tokens: int) -> tuple[Key, ...]:
    """The sentence about the strategy, and the one about memory and batch."""
    return why(chosen, wish, free_gib), how_much(chosen, wish, free_gib, tokens)


def why(chosen: Candidate, wish: Wish, free_gib: float) -> Key:
    """Why this strategy."""
    hardware, setup = wish.hardware, chosen.setup
    values: dict[str, object] = {
        "strategy": Key(f"planning.strategy.{chosen.strategy}"),
        "cards": setup.cards,
        "card": hardware.gpus[0].name if hardware.gpus else "CPU",
        "cores": hardware.cores,
        "dtype": setup.dtype,
        "processes": setup.processes,
        "free": round(free_gib, 1),
        "worst": round(chosen.worst.total, 1) if chosen.worst else "?",
        "length": setup.length,
        "size": setup.sequence_parallel,
        "experts": wish.facts.experts if wish.facts else 0,
        "host": round(chosen.worst.host_gib / hardware.nodes) if chosen.worst else "?",
        "host_free": round(hardware.host_free_gib),
        "tp": setup.tensor_parallel, "pp": setup.pipeline_parallel, "ep": setup.expert_parallel,
        "bits": setup.quant_bits or 4,
    }  # fmt: skip
    return Key(f"planning.why.{_why_code(chosen, wish)}", **values)


def _why_code(chosen: Candidate, wish: Wish) -> str:
    if chosen.host_is_short:
        return "host_too_small"
    if chosen.fits is False:
        nothing = "nothing_fits_cpu" if wish.hardware.on_cpu else "nothing_fits"
        return nothing if wish.strategy is None else "given_too_large"
    if chosen.variation.quantized:
        return "qlora"
    if chosen.variation.halved:
        return "halved"
    if wish.strategy is not None:
        return "given"
    if wish.facts is None and not wish.hardware.on_cpu and wish.cards > 1:
        return "unknown"
    if chosen.setup.sequence_parallel > 1 and chosen.setup.length >= LONG:
        return "sequence"
    if chosen.strategy == "single":
        return "cpu" if wish.hardware.on_cpu else "one_card"
    if chosen.strategy == "ddp" and wish.hardware.on_cpu:
        return "cpu_ranks"
    if chosen.strategy == "megatron":
        return "megatron" if wish.facts and wish.facts.experts else "megatron_dense"
    return chosen.strategy


def how_much(chosen: Candidate, wish: Wish, free_gib: float, tokens: int) -> Key:
    """What it takes of what is free, and how many rows a step learns from."""
    setup = chosen.setup
    values: dict[str, object] = {
        "batch": setup.batch,
        "accumulation": setup.accumulation,
        "copies": max(1, setup.copies // setup.sequence_parallel),
        "total": rows_a_step(setup),
        "length": setup.length,
        "tokens": tokens,
        "free": round(free_gib, 1),
    }
    if chosen.worst is None or chosen.expected is None:
        return Key("planning.memory_unknown", **values)
    values |= {"worst": round(chosen.worst.total, 1), "expected": round(chosen.expected.total, 1)}
    return Key("planning.memory_cpu" if wish.hardware.on_cpu else "planning.memory_cards", **values)


def runner_up_cost(other: Candidate, chosen: Candidate, speed: float) -> Key:
    """Slower or faster by how much, and with how much memory."""
    strategy = Key(f"planning.strategy.{other.strategy}")
    if other.setup.quant_method and not chosen.setup.quant_method:
        strategy = Key("planning.strategy.qlora", strategy=strategy)
    if other.variation.halved:
        strategy = Key("planning.strategy.halved", strategy=strategy)
    if other.worst is None:
        return Key("planning.cost.unknown", strategy=strategy)
    memory = round(other.worst.total, 1)
    if other.fits is False and other.host_is_short:
        return Key("planning.cost.host_too_small", strategy=strategy, host=round(other.worst.host_gib))
    if other.fits is False:
        return Key("planning.cost.too_large", strategy=strategy, memory=memory)
    percent = round(abs(1 - speed) * 100)
    kind = "same" if percent < 3 else "slower" if speed < 1 else "faster"
    return Key(f"planning.cost.{kind}", strategy=strategy, memory=memory, percent=percent)
