"""One table of rules: what is refused, changed or warned of before a training run starts, each with its source."""

from __future__ import annotations

from services.planning.rules.judge import RULES, Verdict, judge, strategy_reason
from services.planning.rules.rule import Context, Rule

__all__ = ["RULES", "Context", "Rule", "Verdict", "judge", "strategy_reason"]
