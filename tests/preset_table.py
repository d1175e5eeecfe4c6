"""What planning estimates for each shipped preset, and the table of them in presets/README.md.

``python -m tests.preset_table`` writes today's estimates into presets/train and the table anew.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from pathlib import Path

import orjson

from services.models.facts import ModelFacts, facts_of
from services.planning.choose import Advice, advise
from services.planning.machine import described
from services.planning.packages import ALL
from services.presets import SHIPPED, Preset, machines, presets
from services.settings import PRESETS
from services.specs import STARTER, as_yaml, read_yaml

CONFIGS = Path(__file__).parent / "data" / "model_configs"
README = PRESETS / "README.md"
HEAD = """# Presets

`train/*.yaml`: specs for real models and machines, each with a title, the machine of `machines.yaml` it is meant for,
and what it takes there. The Training tab starts from them; `tunedesk train` and `tunedesk plan` take them as they take
any spec. GiB is the memory of a card (on a CPU: of a process) with every row as long as `max_length`: the planner's
estimate, or the peak that was measured. The strategy is the planner's choice for that machine.

This table is written by `python -m tests.preset_table`; a test holds it, and every estimate in it to 5 %.

| preset | model | method | machine | strategy | GiB | of | on |
|---|---|---|---|---|---|---|---|
"""


def config_of(model: str) -> ModelFacts:
    """The facts of a preset's model, from the shape of it that lies in tests/data/model_configs."""
    name = "SmolLM2-135M" if model == STARTER else re.sub("^.*/(Meta-)?|-Instruct$", "", model)
    facts = facts_of(orjson.loads((CONFIGS / f"{name}.json").read_bytes()))
    assert facts is not None, model
    return facts


def planned(preset: Preset) -> Advice:
    """How the preset is trained on its machine."""
    assert preset.machine is not None
    hardware, teacher = described(dict(machines()[preset.machine])), preset.spec.args.get("teacher_model")
    facts = config_of(preset.spec.model)
    return advise(
        preset.spec, facts, hardware, ALL, here=False, teacher=config_of(teacher) if teacher is not None else None
    )  # fmt: skip


def estimate_gib(preset: Preset) -> float:
    """Of a card at its worst."""
    worst = planned(preset).worst
    assert worst is not None
    return worst.total


def method(preset: Preset) -> str:
    args = preset.spec.args
    tuner = str(args.get("tuner_type", "lora")).replace("lora", "LoRA")
    words = {"use_rslora": "rsLoRA", "use_dora": "DoRA", "lorap_lr_ratio": "LoRA+"}
    tuner = next((word for name, word in words.items() if args.get(name)), tuner)
    quantized = f", {args['quant_bits']} bits" if args.get("quant_method") else ""
    return f"{str(args.get('rlhf_type') or preset.spec.command).upper()}, {tuner}{quantized}"


def row(preset: Preset) -> str:
    advice, evidence = planned(preset), preset.evidence
    assert evidence is not None
    ranks = advice.processes * advice.nodes
    strategy = advice.strategy if ranks == 1 else f"{advice.strategy} × {ranks}"
    figure = f"{evidence.memory_gib:.1f}" + (f", {evidence.seconds:.0f} s" if evidence.seconds else "")
    where = f", {evidence.measured_on}" if evidence.measured_on else ""
    cells = (
        preset.name, preset.spec.model, method(preset), preset.machine, strategy,
        figure, f"{advice.free_gib:.1f}", f"{evidence.kind} {evidence.date}{where}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |\n"


def table(found: tuple[Preset, ...]) -> str:
    return HEAD + "".join(row(one) for one in found)


def brought_up_to_date(preset: Preset) -> Preset:
    """The preset with today's estimate, in its file too, where that has moved."""
    evidence = preset.evidence
    assert evidence is not None
    now = round(estimate_gib(preset), 1)
    if evidence.kind == "measured" or abs(now - evidence.memory_gib) <= 0.01 * now:
        return preset
    new = replace(evidence, memory_gib=now, date=datetime.date.today())
    path = SHIPPED / f"{preset.name}.yaml"
    stated = {"kind": new.kind, "memory_gib": new.memory_gib, "date": new.date}
    path.write_text(as_yaml({**read_yaml(path), "evidence": stated}), "utf-8")
    return replace(preset, evidence=new)


if __name__ == "__main__":
    README.write_text(table(tuple(brought_up_to_date(one) for one in presets())), "utf-8")
