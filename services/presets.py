"""Presets: specs as data, in ``presets/``."""

from __future__ import annotations

from functools import cache

from services.settings import PRESETS
from services.specs import TrainSpec, read_train_spec

FIRST_JOURNEY = PRESETS / "train" / "self-cognition.yaml"


@cache
def first_journey() -> TrainSpec:
    """What the demo trains and an untouched form holds: the starter model learns a name."""
    return read_train_spec(FIRST_JOURNEY)
