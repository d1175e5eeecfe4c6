"""Does it fit: the planner's advice as a panel, with the memory by part against what is free."""

from __future__ import annotations

from html import escape

from gui.words import card
from services.errors import Key
from services.planning.choose import Advice
from services.planning.setup import Memory
from services.text import say

PARTS = ("weights", "adapter", "gradients", "optimizer", "activations", "logits", "rollout", "buffers", "runtime")
"""In the order of the bar, each with a colour of its own in the style sheet."""
LEAST_SHOWN = 0.004
"""Of the bar's length: a thinner part is not drawn."""


def fit_html(advice: Advice, lang: str) -> str:
    """Whether it fits, why this way, and what was changed for it."""
    state = {True: "ok", False: "error", None: "note"}[advice.fits]
    title = say(f"planning.fits.{'unknown' if advice.fits is None else str(advice.fits).lower()}", lang)
    strategy = say(f"planning.strategy.{advice.strategy}", lang)
    reasons = "".join(f"<p>{escape(_say(key, lang))}</p>" for key in advice.reasons)
    notes = [*(card("note", _say(key, lang)) for key in advice.changed),
             *(card("warning", _say(key, lang)) for key in advice.warned)]  # fmt: skip
    return (
        f'<section class="td-fit td-fit-{state}" aria-label="{escape(title)}">'
        f'<div class="td-fit-title"><b>{escape(title)}</b><span>{escape(strategy)}</span></div>'
        f"{_bars(advice, lang)}{reasons}{''.join(notes)}</section>"
    )


def _say(key: Key, lang: str) -> str:
    return say(str(key), lang, **key.values)


def _bars(advice: Advice, lang: str) -> str:
    if advice.worst is None or advice.expected is None:
        return ""
    scale = max(advice.free_gib, advice.worst.total)
    rows = (("planning.bar_expected", advice.expected), ("planning.bar_worst", advice.worst))
    bars = "".join(_bar(say(key, lang), memory, advice.free_gib, scale, lang) for key, memory in rows)
    return f'<div class="td-fit-bars">{bars}</div>{_legend(advice.worst, lang)}'


def _bar(label: str, memory: Memory, free: float, scale: float, lang: str) -> str:
    segments = "".join(
        f'<i class="td-part-{part}" style="width:{100 * size / scale:.2f}%"></i>'
        for part, size in _ordered(memory)
        if size / scale >= LEAST_SHOWN
    )
    value = say("planning.bar_value", lang, total=f"{memory.total:.1f}", free=f"{free:.1f}")
    mark = f'<u style="left:{100 * free / scale:.2f}%"></u>' if memory.total > free else ""
    return (
        f'<div class="td-fit-row"><span>{escape(label)}</span>'
        f'<div class="td-fit-bar" role="img" aria-label="{escape(f"{label}: {value}")}">{segments}{mark}</div>'
        f"<span>{escape(value)}</span></div>"
    )


def _ordered(memory: Memory) -> list[tuple[str, float]]:
    known = [(part, memory.parts[part]) for part in PARTS if part in memory.parts]
    return known + [(part, size) for part, size in memory.parts.items() if part not in PARTS]


def _legend(memory: Memory, lang: str) -> str:
    parts = [
        f'<span><i class="td-part-{part}"></i>{escape(say(f"planning.part.{part}", lang))} {size:.2f}</span>'
        for part, size in _ordered(memory)
        if size >= 0.005
    ]
    return f'<div class="td-fit-legend">{"".join(parts)}</div>'


def ways(advice: Advice, lang: str) -> list[tuple[str, int]]:
    """The other ways as choices: what each costs, and its place in ``advice.runners_up``."""
    return [(_say(way.cost, lang), place) for place, way in enumerate(advice.runners_up)]
