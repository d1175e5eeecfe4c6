"""DeepSpeed's own knobs on the form ⇄ the configuration that ``deepspeed`` is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from gui.words import t
from services.errors import Refused
from services.planning.deepspeed import Knobs, deepspeed_config
from services.text import WORDS

BUCKETS = ("reduce_bucket_size", "allgather_bucket_size")
SWITCHES = ("overlap_comm", "pin_memory")
PLACES = ("offload_optimizer", "offload_param")
KNOBS = (*BUCKETS, "overlap_comm", *PLACES, "pin_memory")


def knob_widgets() -> dict[str, Any]:
    """A widget for each knob; empty: ms-swift's own value."""
    return {name: _widget(name) for name in KNOBS}


def _widget(name: str) -> Any:
    info = t(f"field.info.{name}") if f"field.info.{name}" in WORDS else None
    common: dict[str, Any] = {"label": t(f"field.{name}"), "info": info, "elem_id": f"train-{name.replace('_', '-')}"}
    if name in BUCKETS:
        return gr.Textbox("", placeholder="2e8", visible=False, **common)
    on_off = [(t("field.on"), "true"), (t("field.off"), "false")]
    options = [("none", "none"), ("cpu", "cpu")] if name in PLACES else on_off
    return gr.Dropdown([(t("field.default"), ""), *options], value="", visible=False, **common)


def is_knob_shown(name: str, strategy: str) -> bool:
    """Whether a strategy's ZeRO stage has the knob."""
    if not strategy.startswith("zero"):
        return False
    stage = int(strategy[4])
    return stage >= {"offload_optimizer": 1, "offload_param": 3, "pin_memory": 1}.get(name, 0) and not (
        name == "allgather_bucket_size" and stage == 3
    )


def configuration(values: Mapping[str, Any], strategy: str) -> dict[str, Any] | None:
    """The configuration that the filled knobs come to; None where none is filled. Raises Refused("field_number")."""
    given = {name: str(values.get(name) or "").strip() for name in KNOBS if is_knob_shown(name, strategy)}
    if not any(given.values()):
        return None
    knobs: dict[str, Any] = {name: _value(name, text) for name, text in given.items() if text}
    if strategy.endswith("_offload"):
        knobs.setdefault("offload_optimizer", "cpu")
        if strategy == "zero3_offload":
            knobs.setdefault("offload_param", "cpu")
    return deepspeed_config(int(strategy[4]), Knobs(**knobs))


def _value(name: str, text: str) -> Any:
    if name in PLACES:
        return text
    if name in SWITCHES:
        return text == "true"
    try:
        return int(float(text))
    except (ValueError, OverflowError) as error:
        raise Refused("field_number", name=name, text=text[:80]) from error


def knob_values(config: object) -> tuple[str, dict[str, str]] | None:
    """(strategy, the knobs' texts) of a configuration that the form can make; None for any other."""
    zero = config.get("zero_optimization") if isinstance(config, Mapping) else None
    if not isinstance(zero, Mapping) or zero.get("stage") not in (0, 1, 2, 3):
        return None
    strategy = f"zero{zero['stage']}"
    plain = deepspeed_config(zero["stage"])["zero_optimization"]
    texts: dict[str, str] = {}
    for name in ("reduce_bucket_size", "allgather_bucket_size", "overlap_comm"):
        if name in zero and zero[name] != plain.get(name):
            texts[name] = str(zero[name]).lower()
    for name in PLACES:
        place = zero.get(name) or {}
        if place.get("device", "none") != (plain.get(name) or {}).get("device", "none"):
            texts[name] = str(place["device"])
        if "pin_memory" in place and place["pin_memory"] != (plain.get(name) or {}).get("pin_memory", True):
            texts["pin_memory"] = str(place["pin_memory"]).lower()
    return (strategy, texts) if configuration(texts, strategy) == config else None
