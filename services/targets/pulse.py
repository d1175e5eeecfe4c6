"""Signs of life between this machine and a node: when to give one, and when the other side is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

LOST_SHARE, END_S, LEAST_SHARE = 0.75, 3.0, 0.5
"""After LOST_SHARE of the timeout without a sign of life the other side is lost; END_S at least is for ending
everything, unless that left less than LEAST_SHARE.
"""
BEATS = 10
"""Signs of life within one timeout."""
SLOWEST_BEAT_S = 5.0


@dataclass
class Pulse:
    """One side's view of the other. ``clock`` is replaceable, so that tests replay histories."""

    timeout_s: float
    clock: Callable[[], float] = time.monotonic
    heard_at: float = field(init=False)
    gave_at: float = field(init=False, default=float("-inf"))

    def __post_init__(self) -> None:
        self.heard_at = self.clock()

    def hear(self) -> None:
        """The other side said something."""
        self.heard_at = self.clock()

    @property
    def silent_s(self) -> float:
        """Since the other side last said something."""
        return self.clock() - self.heard_at

    @property
    def lost(self) -> bool:
        patience_s = min(self.timeout_s * LOST_SHARE, self.timeout_s - END_S)
        return self.silent_s > max(patience_s, self.timeout_s * LEAST_SHARE)

    def due(self) -> bool:
        """True when it is time for a sign of life of our own, which then counts as given."""
        now = self.clock()
        if now - self.gave_at < min(self.timeout_s / BEATS, SLOWEST_BEAT_S):
            return False
        self.gave_at = now
        return True
