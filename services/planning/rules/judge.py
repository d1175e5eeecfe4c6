"""The table put together, and the one function that asks it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from services.errors import Key, Refused
from services.planning.as_setup import setup_of
from services.planning.rules import data, launch, methods, numbers, parallel, saving
from services.planning.rules.rule import Context, Rule
from services.planning.setup import Hardware, Setup

RULES: tuple[Rule, ...] = (
    *numbers.RULES, *launch.RULES, *methods.RULES, *parallel.RULES, *data.RULES, *saving.RULES,
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What the table says about a setting that is not refused."""

    settings: Mapping[str, Any]
    changed: tuple[Key, ...] = ()
    warned: tuple[Key, ...] = ()


def judge(context: Context) -> Verdict:
    """Apply the changes, then refuse, then warn. Raises Refused with the first rule's code and values."""
    changed: list[Key] = []
    for rule in RULES:
        if rule.outcome == "changed" and (values := rule.applies(context)) is not None:
            changed.append(Key(f"planning.rule.{rule.code}", **values))
            context = _with(context, {**context.settings, **rule.sets(context)})
    for rule in RULES:
        if rule.outcome == "refused" and (values := rule.applies(context)) is not None:
            raise Refused(rule.code, "", **values)
    warned = [
        Key(f"planning.rule.{rule.code}", **values)
        for rule in RULES
        if rule.outcome == "warned" and (values := rule.applies(context)) is not None
    ]
    return Verdict(context.settings, tuple(changed), tuple(warned))


def _with(context: Context, settings: Mapping[str, Any]) -> Context:
    before = context.setup
    setup = setup_of(
        context.command, settings, before.strategy, before.processes, context.hardware, context.facts
    )  # fmt: skip
    return replace(context, settings=settings, setup=setup)


def strategy_reason(strategy: str, hardware: Hardware, packages: frozenset[str] = frozenset()) -> str | None:
    """Why ``strategy`` cannot run on ``hardware``, as ``training.reason.<code>``; None: it can."""
    setup = Setup(strategy=strategy, processes=1, cards=min(1, len(hardware.gpus)))
    return launch.reason(Context("sft", {}, setup, hardware, packages=packages))
