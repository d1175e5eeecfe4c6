"""How far a training is, by what this very attempt has printed."""

from __future__ import annotations

import re


def step_in(log: str) -> int:
    """The step that the progress bar shows; 0 while there is none."""
    return max((int(step) for step in re.findall(r"Train:[^|]*\|[^|]*\| (\d+)/", log)), default=0)
