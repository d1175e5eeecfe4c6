"""Training: from a spec to a running run, and on from where it stopped."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from services.datasets.audit import expected_tokens
from services.datasets.data import read_data
from services.errors import Refused
from services.hardware.device import device_of
from services.hardware.machine import Machine
from services.models.facts import ModelFacts
from services.models.reference import Model, Models
from services.paths import resolve_new
from services.plan import Plan, Slot
from services.planning.choose import Advice, advise
from services.planning.expected import mean_tokens
from services.planning.machine import device_of_description, hardware_of, read_topology
from services.planning.packages import ALL, installed
from services.planning.setup import Hardware
from services.runs.folder import Record
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import SAMPLE, STARTER, TrainSpec, as_yaml, read_train_spec
from services.swift import commands, paths
from services.swift.commands import Data, Launch
from services.swift.marks import refuse_unavailable
from services.target_specs import HERE, AnyTarget, Ssh
from services.targets import placement
from services.targets.check import NodeReport, check_nodes, refuse_unfit
from services.targets.placement import hardware_there, node_count, of_node, placed, refuse_unreachable
from services.units import GIB, human_bytes


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
    advice: Advice
    """How it is trained, why, and what it takes."""
    node_plan: Plan
    """What each machine does, where they are several; else the plan itself."""


@dataclass(frozen=True)
class Trainings:
    """Plans, starts and resumes training runs."""

    settings: Settings
    runs: Runs
    models: Models
    machine: Callable[[], Machine]
    python: str
    fetch: Callable[[str, Settings, bool], ModelFacts | None] = lambda *_: None
    """The facts of a model on a hub (its id, on Hugging Face or not); None where they cannot be had."""

    def plan(self, spec: TrainSpec, hardware: Hardware | None = None) -> Prepared:
        """As ``prepare``, also on a described machine; a model of which only config.json is here and data that is
        elsewhere will do.
        """
        return self.prepare(spec, hardware=hardware, only_plan=True)

    def prepare(
        self,
        spec: TrainSpec,
        resume_from: str | None = None,
        nodes: int = 1,
        *,
        hardware: Hardware | None = None,
        only_plan: bool = False,
    ) -> Prepared:
        """What ``spec`` comes to on this machine, or on ``nodes`` like it.

        Raises Refused for what cannot work, before anything starts.
        """
        machine = self.machine()
        model = self.models.find(spec.model, weights=not only_plan)
        spec = settled(spec, model)
        spec = spec.model_copy(update={"target": placement.settled(spec.target, self.settings)})
        if model.source.adapter is not None:
            raise Refused("train_on_adapter", path=model.label)
        data = self._data(spec, only_plan, model.source.flags.get("template"))
        here = hardware is None
        if hardware is None:
            hardware = replace(hardware_of(machine, read_topology(machine)), nodes=max(nodes, node_count(spec.target)))
            hardware = hardware_there(spec.target, hardware)
        facts = self._facts(model)
        packages = installed() if here else ALL
        advice = advise(
            spec, facts, hardware, packages,
            tokens=self._tokens(data, model), rows=data.rows, here=here, teacher=self._teacher(spec),
        )  # fmt: skip
        if here and spec.target == HERE:
            refuse_unavailable(advice.settings, hardware.on_cpu)
        launch = launch_of(advice)
        device = device_of(machine) if here and spec.target == HERE else device_of_description(hardware)
        there = on_cards(spec, advice)
        node_plan = of_node(
            commands.train_plan(there, launch, model.source, data, device, self.python, resume_from), spec
        )
        plan = placed(node_plan, spec)
        return Prepared(
            spec, plan, replace(model, facts=facts), data,
            total_batch=commands.total_batch(advice.settings, launch.copies),
            disk_needed=round(advice.worst.disk_gib * GIB) if advice.worst is not None else None,
            advice=advice,
            node_plan=node_plan,
        )  # fmt: skip

    def _data(self, spec: TrainSpec, only_plan: bool, template: str | None) -> Data:
        try:
            return read_data(spec, self.settings, template=template)
        except Refused as error:
            if only_plan and error.code in ("dataset_not_found", "path_not_found"):
                return Data(spec.dataset)
            raise

    def _tokens(self, data: Data, model: Model) -> int | None:
        """Mean tokens of a row: counted by an audit with this model, else by the size of the files."""
        paths = [Path(text) for text in data.arguments if not isinstance(text, Slot) and Path(text).is_file()]
        counted = expected_tokens(paths, model.source, self.settings) if len(paths) == len(data.arguments) else None
        return counted or mean_tokens(data)

    def _teacher(self, spec: TrainSpec) -> ModelFacts | None:
        """The facts of the model that GKD loads beside the trained one."""
        named = spec.args.get("teacher_model")
        if not named or named == spec.model:
            return None
        try:
            return self._facts(self.models.find(str(named), weights=False))
        except Refused:  # ms-swift may know it by another name
            return None

    def _facts(self, model: Model) -> ModelFacts | None:
        if model.facts is not None or model.source.local:
            return model.facts
        return self.fetch(model.source.model, self.settings, model.source.use_hf)

    def start(self, spec: TrainSpec, *, request_id: str = "", now: bool = False, parent: str | None = None) -> Record:
        """Start ``spec``. Raises Refused as ``prepare`` does, "disk_too_small" and "output_not_writable" too."""
        prepared = self.prepare(spec)
        self._refuse_small_disk(prepared)
        self._refuse_target(prepared)
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

    def nodes(self, spec: TrainSpec) -> list[NodeReport]:
        """Whether each machine of ``spec.target`` is fit for it; none where it runs here. Raises as ``prepare``."""
        prepared = self.prepare(spec)
        return self._node_reports(prepared)

    def _node_reports(self, prepared: Prepared) -> list[NodeReport]:
        target = prepared.spec.target
        return check_nodes(target, prepared.node_plan, self.settings) if isinstance(target, Ssh) else []

    def _refuse_target(self, prepared: Prepared) -> None:
        """Raises Refused("target_only_written", "no_slurm" or "nodes_unfit")."""
        refuse_unreachable(prepared.spec.target)
        refuse_unfit(self._node_reports(prepared))

    def resume(self, run_id: str, target: AnyTarget | None = None) -> Record:
        """Go on from the last whole checkpoint, or from the beginning where there is none yet; where ``target``
        says, if it is given.

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
        if target is not None:
            spec = spec.model_copy(update={"target": target})
        else:
            spec = as_chosen(spec, record.about.get("chosen"))
        prepared = self.prepare(spec, str(last.path) if last is not None else None)
        self._refuse_target(prepared)
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


def launch_of(advice: Advice) -> Launch:
    """The chosen way as the command line is made from it."""
    return Launch(advice.command, advice.strategy, advice.processes, advice.settings, advice.nodes)


def on_cards(spec: TrainSpec, advice: Advice) -> TrainSpec:
    """``spec`` on the cards that were chosen for it."""
    return spec.model_copy(update={"devices": advice.devices}) if advice.devices else spec


def as_chosen(spec: TrainSpec, chosen: Mapping[str, Any] | None) -> TrainSpec:
    """``spec`` with all that was chosen for it at its start: a checkpoint goes on under the same strategy and batch,
    however full the cards are by now.
    """
    if not chosen:
        return spec
    kept = {name: chosen[name] for name in ("command", "strategy", "processes")}
    settings = {name: value for name, value in chosen["settings"].items() if value is not None}
    return spec.model_copy(update={**kept, "args": {**settings, **spec.args}})


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
        "chosen": {
            "command": prepared.advice.command,
            "strategy": prepared.advice.strategy,
            "processes": prepared.advice.processes,
            "settings": dict(prepared.advice.settings),
        },
    }


def _writable(place: Path) -> bool:
    return os.access(place, os.W_OK)
