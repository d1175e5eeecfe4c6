"""A plan and the reasons for it as JSON and as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from services.errors import Key
from services.planning.choose import Advice, RunnerUp
from services.planning.setup import Memory
from services.text import say

if TYPE_CHECKING:
    from services.plan import Plan


def advice_as_json(advice: Advice, lang: str) -> dict[str, Any]:
    """What was chosen and why: sentences in ``lang``, memory in GiB, None where it was not estimated."""
    expected, worst = advice.expected, advice.worst
    return {
        "command": advice.command,
        "strategy": advice.strategy,
        "processes": advice.processes,
        "nodes": advice.nodes,
        "devices": list(advice.devices),
        "settings": dict(advice.settings),
        "reasons": sentences(advice.reasons, lang),
        "fits": advice.fits,
        "expected_tokens": advice.tokens,
        "free_gib_per_card": round(advice.free_gib, 2),
        "memory_gib_per_card": _total(expected),
        "memory_gib_per_card_worst": _total(worst),
        "memory": _parts(expected),
        "memory_worst": _parts(worst),
        "host_memory_gib": round(worst.host_gib, 2) if worst is not None else None,
        "disk_gib": round(worst.disk_gib, 3) if worst is not None else None,
        "runners_up": [runner_up_as_json(other, lang) for other in advice.runners_up],
        "changed": sentences(advice.changed, lang),
        "warned": sentences(advice.warned, lang),
    }


def runner_up_as_json(other: RunnerUp, lang: str) -> dict[str, Any]:
    """Another way: ``speed`` is a multiple of the chosen way's, ``settings`` what differs from it."""
    return {
        "strategy": other.strategy,
        "processes": other.processes,
        "settings": dict(other.settings),
        "memory_gib_per_card": _total(other.expected),
        "memory_gib_per_card_worst": _total(other.worst),
        "fits": other.fits,
        "speed": round(other.speed, 3) if other.worst is not None else None,
        "cost": say(other.cost, lang, **other.cost.values),
    }


def plan_as_json(advice: Advice, plan: Plan, lang: str) -> dict[str, Any]:
    """The advice, with the command that would run."""
    return {**advice_as_json(advice, lang), "argv": list(plan.argv), "env": dict(plan.env), "files": dict(plan.files)}


def plan_as_text(advice: Advice, plan: Plan, lang: str) -> str:
    """The reasons, what was changed, what else there is, and the command."""
    lines = [*sentences(advice.reasons, lang), *sentences(advice.changed, lang), *sentences(advice.warned, lang)]
    others = [f"  {say(other.cost, lang, **other.cost.values)}" for other in advice.runners_up]
    if others:
        lines += ["", say("planning.others", lang), *others]
    return "\n".join([*lines, "", str(plan)])


def sentences(keys: Iterable[Key], lang: str) -> list[str]:
    """Keys put into words."""
    return [say(key, lang, **key.values) for key in keys]


def _total(memory: Memory | None) -> float | None:
    return round(memory.total, 2) if memory is not None else None


def _parts(memory: Memory | None) -> Mapping[str, float] | None:
    return {name: round(value, 3) for name, value in memory.parts.items()} if memory is not None else None
