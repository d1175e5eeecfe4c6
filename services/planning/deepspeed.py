"""DeepSpeed's own knobs: ms-swift's configuration of a stage with what a person or a machine asks for."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from services.errors import Key, Refused
from services.planning.setup import Hardware

Place = Literal["none", "cpu"]
FEW_CARDS = 8
BUCKET, BUCKET_ON_MANY = 200_000_000, 500_000_000
"""Numbers a bucket holds: half a billion blocks the talk between few cards, as practitioners report."""
HOST_FOR_OFFLOAD_GIB = 128


@dataclass(frozen=True)
class Knobs:
    """What a form asks; None leaves ms-swift's own value."""

    reduce_bucket_size: int | None = None
    """Gradients handed on at once, in numbers."""
    allgather_bucket_size: int | None = None
    """Weights gathered at once, in numbers (stages 1 and 2)."""
    overlap_comm: bool | None = None
    """Talk while computing; takes buckets twice."""
    offload_optimizer: Place | None = None
    offload_param: Place | None = None
    """Stage 3 only."""
    pin_memory: bool | None = None
    """The host's part cannot be swapped out, and is moved faster."""


def deepspeed_config(stage: int, knobs: Knobs = Knobs()) -> dict[str, Any]:
    """The configuration of ZeRO ``stage`` (0 to 3) as ``deepspeed`` takes it.

    Raises Refused("deepspeed_stage") for another stage, "deepspeed_knob" for a knob the stage does not have, and
    "argument_number" for a bucket of nothing.
    """
    if stage not in (0, 1, 2, 3):
        raise Refused("deepspeed_stage", stage=stage)
    config = copy.deepcopy(_bundled(f"zero{stage}"))
    zero = config["zero_optimization"]
    for name in ("reduce_bucket_size", "allgather_bucket_size", "overlap_comm"):
        value = getattr(knobs, name)
        if value is None:
            continue
        if name == "allgather_bucket_size" and stage == 3:
            raise Refused("deepspeed_knob", knob=name, stage=stage)
        if name != "overlap_comm" and value < 1:
            raise Refused("argument_number", name=name, value=value, least="1")
        zero[name] = value
    for name, first in (("offload_optimizer", 1), ("offload_param", 3)):
        place = getattr(knobs, name)
        if place is not None and stage < first:
            raise Refused("deepspeed_knob", knob=name, stage=stage)
        if place is not None or (knobs.pin_memory is not None and name in zero):
            zero[name] = _offload(zero.get(name) or {}, place, knobs.pin_memory)
    return config


def _offload(before: Mapping[str, Any], place: Place | None, pinned: bool | None) -> dict[str, Any]:
    return {
        "device": place or before.get("device", "none"),
        "pin_memory": before.get("pin_memory", True) if pinned is None else pinned,
    }


def advised(stage: int, hardware: Hardware, fits: bool | None) -> tuple[Knobs, tuple[Key, ...]]:
    """Knobs for a machine, each with its reason; ``fits``: the training fits the cards without offloading."""
    many = len(hardware.gpus) * hardware.nodes > FEW_CARDS
    size = BUCKET_ON_MANY if many else BUCKET
    offload = fits is False and hardware.host_memory_gib >= HOST_FOR_OFFLOAD_GIB
    host = round(hardware.host_memory_gib)
    reasons = [Key("planning.deepspeed.buckets_many" if many else "planning.deepspeed.buckets", size=f"{size:,}")]
    if fits is False and stage > 0:
        reasons.append(Key("planning.deepspeed.offload" if offload else "planning.deepspeed.no_offload", host=host))
    knobs = Knobs(
        reduce_bucket_size=size if stage < 3 else None,
        allgather_bucket_size=size if stage < 3 else None,
        offload_optimizer="cpu" if offload and stage > 0 else None,
        offload_param="cpu" if offload and stage == 3 else None,
    )
    return knobs, tuple(reasons if stage < 3 else reasons[1:])


@cache
def _bundled(name: str) -> dict[str, Any]:
    """ms-swift's own configuration, read from the installed package; nothing of it is imported."""
    found = importlib.util.find_spec("swift")
    if found is None or found.origin is None:
        raise Refused("swift_missing")
    path = Path(found.origin).parent / "config" / f"{name}.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused("swift_missing") from error
    return config
