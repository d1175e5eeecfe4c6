"""Merging a LoRA into its base model: a run that ends with a model folder that has been checked."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from services.errors import Refused
from services.hardware.device import device_of
from services.hardware.machine import Machine
from services.models.reference import Model, Models
from services.plan import Plan, partial_of
from services.runs.folder import Record, RunState
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import MergeSpec, as_yaml
from services.swift import commands

LONGEST_NAME = 200
"""Bytes; file systems allow 255, and a number or an ending may follow."""


@dataclass(frozen=True)
class Merges:
    """Plans and starts merges. A merged model lies in ``models/`` of the data folder, under the run's name."""

    settings: Settings
    runs: Runs
    models: Models
    machine: Callable[[], Machine]
    python: str

    def prepare(self, spec: MergeSpec) -> tuple[Plan, Model]:
        """What ``spec`` comes to. Raises Refused("not_an_adapter", "still_running" …)."""
        model = self.models.find(spec.adapter, base=spec.base or None)
        if model.source.adapter is None:
            raise Refused("not_an_adapter", path=model.label)
        source = self._run_of(model)
        if source is not None and not source.state.final:  # its checkpoints come and go
            raise Refused("still_running", name=source.name)
        name = spec.name.strip() or default_name(model)
        if "/" in name or name.startswith(".") or not name.isprintable() or len(name.encode()) > LONGEST_NAME:
            raise Refused("merge_name", name=name)
        output = self.free_folder(name)
        plan = commands.merge_plan(spec, model.source, str(output), device_of(self.machine()), self.python)
        return plan, model

    def start(self, spec: MergeSpec, *, request_id: str = "") -> Record:
        """Start the merge. Raises Refused as ``prepare`` does."""
        self._sweep()
        plan, model = self.prepare(spec)
        of = self._run_of(model)
        return self.runs.start(
            plan,
            name=Path(plan.output_dir).name,
            spec=as_yaml(spec.model_dump(exclude_none=True)),
            request_id=request_id,
            about={"of": of.id if of is not None else None, "model": model.label, "adapter": model.source.adapter},
        )

    def free_folder(self, name: str) -> Path:
        """A folder in ``models/`` that neither exists nor is promised to a merge under way; never one to overwrite."""
        parent = self.settings.home / "models"
        promised = {record.output_dir for record in self.runs.list() if record.state is not RunState.LOST}
        candidate, number = parent / name, 2
        while _taken(candidate) or str(candidate) in promised:
            candidate, number = parent / f"{name}-{number}", number + 1
        return candidate

    def _sweep(self) -> None:
        """Delete what merges left that ended by force, so that trying again fills no disk."""
        for record in self.runs.list():
            if record.kind == "merge" and record.state.final and Path(partial_of(record.output_dir)).exists():
                self.runs.stop(record.id)  # of a lost one something may still be writing
                shutil.rmtree(partial_of(record.output_dir), ignore_errors=True)

    def _run_of(self, model: Model) -> Record | None:
        """The run whose checkpoint is merged, if it is one of ours."""
        adapter = Path(model.source.adapter or "")
        for record in self.runs.list():
            if record.output_dir and adapter.is_relative_to(record.output_dir):
                return record
        return None


def default_name(model: Model) -> str:
    """The label of the adapter's run, or of its folder, and what was done to it."""
    label = re.sub(r":(checkpoint-\d+|merged)$", "", model.label)
    return (re.sub(r"[^\w.-]+", "-", label).strip("-.")[:60] or "model") + "-merged"


def _taken(folder: Path) -> bool:
    return folder.exists() or Path(partial_of(str(folder))).exists()
