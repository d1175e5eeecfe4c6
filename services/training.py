"""Training: from a spec to a running run, and on from where it stopped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.datasets.data import read_data
from services.errors import Key, Refused
from services.hardware.machine import Machine
from services.hardware.strategies import device_of, method_reason
from services.models.facts import ModelFacts
from services.models.reference import Model, Models
from services.paths import resolve_new
from services.plan import Plan, Slot
from services.runs.folder import Record
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import SAMPLE, STARTER, TrainSpec, as_yaml, read_train_spec
from services.swift import commands, paths
from services.swift.commands import Data
from services.units import human_bytes

FLOAT_BYTES = 4
ADAM_BYTES = 8
"""Per trained parameter: two float32 moments (Kingma & Ba 2015)."""


@dataclass(frozen=True)
class Prepared:
    """A training run that could be started: what will run, and the figures a person wants to see first."""

    spec: TrainSpec
    plan: Plan
    model: Model
    data: Data
    total_batch: int
    disk_needed: int | None
    """Bytes its checkpoints will take; None where the model's size is not known."""


@dataclass(frozen=True)
class Trainings:
    """Plans, starts and resumes training runs."""

    settings: Settings
    runs: Runs
    models: Models
    machine: Callable[[], Machine]
    python: str

    def prepare(self, spec: TrainSpec, resume_from: str | None = None) -> Prepared:
        """What ``spec`` comes to on this machine. Raises Refused for what cannot work, before anything starts."""
        machine = self.machine()
        model = self.models.find(spec.model)
        spec = settled(spec, model)
        if model.source.adapter is not None:
            raise Refused("train_on_adapter", path=model.label)
        if spec.args.get("quant_method") and (reason := method_reason("qlora", machine)):
            raise Refused("method_impossible", reason=Key(f"training.reason.{reason}"))
        data = read_data(spec, self.settings)
        device = device_of(machine)
        plan = commands.train_plan(spec, model.source, data, device, self.python, resume_from)
        settings = argv_settings(plan)
        return Prepared(
            spec, plan, model, data,
            total_batch=commands.total_batch(settings, plan.processes),
            disk_needed=disk_needed(model.facts, settings),
        )  # fmt: skip

    def start(self, spec: TrainSpec, *, request_id: str = "", now: bool = False, parent: str | None = None) -> Record:
        """Start ``spec``. Raises Refused as ``prepare`` does, "disk_too_small" and "output_not_writable" too."""
        prepared = self.prepare(spec)
        self._refuse_small_disk(prepared)
        name = spec.name.strip() or default_name(prepared)
        return self.runs.start(
            prepared.plan,
            name=name,
            spec=as_yaml(replace_name(prepared.spec, name).flat()),
            request_id=request_id,
            about=about(prepared),
            now=now,
            parent=parent,
        )

    def resume(self, run_id: str) -> Record:
        """Go on from the last whole checkpoint, or from the beginning where there is none yet.

        Raises Refused("nothing_left") for a run that has done all its steps.
        """
        record = self.runs.snapshot(run_id).record
        if record.kind != "train":
            raise Refused("not_a_training", name=record.name)
        snapshot = self.runs.snapshot(run_id)
        last = snapshot.checkpoints[-1] if snapshot.checkpoints else None
        if last is not None and snapshot.total_steps and last.step >= snapshot.total_steps:
            raise Refused("nothing_left", name=record.name, steps=last.step)
        spec = self.spec_of(run_id)
        prepared = self.prepare(spec, str(last.path) if last is not None else None)
        return self.runs.resume(run_id, prepared.plan)

    def spec_of(self, run_id: str) -> TrainSpec:
        """The frozen spec of a run."""
        return read_train_spec(self.runs.folder(run_id).spec)

    def _refuse_small_disk(self, prepared: Prepared) -> None:
        output = prepared.plan.output_dir
        place = self.settings.home if isinstance(output, Slot) else resolve_new(output, self.settings)
        while not place.exists() and place != place.parent:
            place = place.parent
        if not _writable(place):
            raise Refused("output_not_writable", path=str(place))
        free = self.machine().disk_free if isinstance(output, Slot) else shutil.disk_usage(place).free
        if prepared.disk_needed is not None and prepared.disk_needed > free:
            needed, free_text = human_bytes(prepared.disk_needed), human_bytes(free)
            raise Refused("disk_too_small", needed=needed, free=free_text, path=str(place))


def argv_settings(plan: Plan) -> dict[str, Any]:
    """The single-valued settings on a plan's command line, by name."""
    words = list(plan.argv)
    pairs = zip(words, [*words[1:], ""], strict=True)
    return {word[2:]: value for word, value in pairs if word.startswith("--") and not value.startswith("--")}


def disk_needed(facts: ModelFacts | None, settings: dict[str, Any]) -> int | None:
    """Bytes of the checkpoints kept: the trained weights and Adam's moments, times their number."""
    if facts is None:
        return None
    rank = int(settings.get("lora_rank") or 8)
    trained = facts.parameters if settings.get("tuner_type") == "full" else facts.lora_parameters(rank)
    kept = int(settings.get("save_total_limit") or commands.CHECKPOINTS_KEPT) + 1
    return trained * (FLOAT_BYTES + ADAM_BYTES) * kept


def default_name(prepared: Prepared) -> str:
    """A name for a run that was given none."""
    spec = prepared.spec
    return spec.model_name if SAMPLE in spec.dataset and spec.model_name else f"{prepared.model.label}-{spec.command}"


def settled(spec: TrainSpec, model: Model) -> TrainSpec:
    """``spec`` meaning the same from any folder and at any time: its paths absolute, "last" the model it is now."""
    here = Path.cwd()
    stays = spec.model == STARTER or not model.source.local
    return spec.model_copy(
        update={
            "model": spec.model if stays else model.source.model,
            "dataset": tuple(text if text == SAMPLE else paths.existing(text, here) for text in spec.dataset),
            "args": paths.absolute(spec.args, here),
        }
    )


def replace_name(spec: TrainSpec, name: str) -> TrainSpec:
    return spec.model_copy(update={"name": name})


def about(prepared: Prepared) -> dict[str, Any]:
    """What the run's record keeps for other rooms."""
    settings = argv_settings(prepared.plan)
    return {
        "model": prepared.model.label,
        "base": prepared.spec.model if prepared.spec.model == STARTER else prepared.model.source.model,
        "tuner": settings.get("tuner_type", ""),
        "processes": prepared.plan.processes,
        "total_batch": prepared.total_batch,
    }


def _writable(place: Path) -> bool:
    return os.access(place, os.W_OK)
