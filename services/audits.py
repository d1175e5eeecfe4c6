"""Checking data with a model at hand: look, scan, and what ms-swift's template makes of the rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from services.datasets import audit as tokens
from services.datasets.audit import Audit, make_audit
from services.datasets.audited import Outcome, add_audit
from services.datasets.check import Checked, inspect
from services.datasets.duplicates import shared
from services.datasets.formats import Task
from services.datasets.lengths import Strategy
from services.datasets.memory import stale_name
from services.datasets.repeats import read_repeats
from services.datasets.report import Finding, Report
from services.datasets.review import Finish
from services.datasets.sources import argument_for, parse_source
from services.errors import Failed, Key, Refused, TuneDeskError
from services.hardware.machine import Machine
from services.models.reference import Model, Models
from services.paths import resolve
from services.plan import Plan, Slot
from services.planning.candidates import usual_length
from services.runs import process
from services.runs.folder import Record
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import STARTER, AuditSpec, as_yaml

RESULT = "audit.json"
REPEATS = "repeats.json"


Progress = Callable[[str, float], None]
"""Hears (look, scan or audit; the part done, 0 to 1)."""


@dataclass(frozen=True)
class Audits:
    """Checks with a model, and audits of all rows as runs."""

    settings: Settings
    runs: Runs
    models: Models
    machine: Callable[[], Machine]
    python: str

    def check(
        self,
        path: Path,
        *,
        task: Task = "sft",
        model: str = STARTER,
        max_length: int | None = None,
        strategy: Strategy | None = None,
        columns: Mapping[str, str] | None = None,
        template: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Outcome:
        """All three stages of one file. What the last one needs and is not there becomes a remark of the report.

        Raises Refused("dataset_unreadable") and Failed("check_failed"), and Stopped soon after ``stop()`` is true
        while tokens are counted.
        """
        found = self._find(model)
        flags = found.source.flags if isinstance(found, Model) else {}
        checked = inspect(
            path, task=task, columns=columns, template=flags.get("template"), stop=stop,
            progress=None if progress is None else lambda part: progress("scan", part),
        )  # fmt: skip
        if stop is not None and stop():
            return Outcome(checked.report)
        return self.audit(
            checked, found, max_length=max_length, strategy=strategy, template=template, progress=progress, stop=stop
        )

    def audit(
        self,
        checked: Checked,
        model: Model | TuneDeskError,
        *,
        max_length: int | None = None,
        strategy: Strategy | None = None,
        template: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> Outcome:
        """The last stage alone."""
        report, began = checked.report, time.monotonic()
        if report.verdict == "blocked":
            return Outcome(report)
        if isinstance(model, TuneDeskError):
            why = Key(f"error.{model.code}", **model.values)
            return Outcome(_with(report, Finding("audit_missing", values={"reason": why})))
        try:
            result = tokens.audit(
                checked, model.source, self.settings, template=template, stop=stop,
                progress=None if progress is None else lambda part: progress("audit", part),
            )  # fmt: skip
        except Failed as error:
            why = Key(f"error.{error.code}", **error.values)
            return Outcome(_with(report, Finding("audit_missing", values={"reason": why})))
        if stale_name(report.path, self.settings) is not None:
            checked = replace(checked, report=_with(report, Finding("file_same_time")))
        limit = max_length or self.default_max_length(model)
        how: Strategy = strategy or ("left" if report.task == "grpo" else "delete")
        return Outcome(add_audit(checked, result, limit, how, seconds=time.monotonic() - began), result)

    def finish(self, model: str, **options: Any) -> Finish:
        """The last stage for ``review``; ``options`` are those of ``audit``: max_length, strategy, template."""
        found = self._find(model)

        def work(checked: Checked, /, *, progress: Progress, stop: Callable[[], bool]) -> Outcome:
            return self.audit(checked, found, progress=progress, stop=stop, **options)

        return work

    def template_of(self, model: str) -> str | None:
        """The chat template ms-swift must be told for this model; ``inspect`` and ``review`` want to know it."""
        found = self._find(model)
        return found.source.flags.get("template") if isinstance(found, Model) else None

    def default_max_length(self, model: Model) -> int:
        """The max_length a training run gets here when it names none."""
        return usual_length(not self.machine().cards, model.facts)

    def leaks(self, training: Sequence[Path], validation: Sequence[Path], *, task: Task = "sft") -> Finding | None:
        """Rows of the validation files that are in the training files too; reads all of them."""
        return leak([inspect(path, task=task) for path in training], [inspect(path, task=task) for path in validation])

    def expected_tokens(self, paths: Sequence[Path], model: str) -> int | None:
        """Mean tokens of a row of files that were checked with this model; None where one was not."""
        found = self._find(model)
        return tokens.expected_tokens(paths, found.source, self.settings) if isinstance(found, Model) else None

    def _find(self, model: str) -> Model | TuneDeskError:
        try:
            return self.models.find(model)
        except Refused as error:
            return error

    def prepare(self, spec: AuditSpec) -> Plan:
        """An audit of all rows: what will run. Raises Refused for a model or a file that is not there, and
        Refused("dataset_blocked") for one that ms-swift cannot load.
        """
        model = self.models.find(spec.model)
        source = parse_source(spec.dataset, self.settings)
        if source.path is None:
            raise Refused("dataset_not_found", text=spec.dataset)
        path = source.path
        template = model.source.flags.get("template")
        checked = inspect(path, task=spec.task, columns=spec.columns or None, template=template)
        report = checked.report
        if report.verdict == "blocked":
            first = report.findings[0]
            reason = Key(f"dataset.finding.{first.code}", **first.gaps())
            raise Refused("dataset_blocked", path=spec.dataset, reason=reason)
        job = tokens.job_for(checked, model.source, spec.template)
        job |= {"path": argument_for(replace(source, count=None), self.settings), "processes": process.cores()}
        held = [str(resolve(one, self.settings, must_be="file")) for one in spec.validation]
        compared = {"path": str(path), "task": report.task, "columns": spec.columns, "held": held, "rows": report.rows}
        about = {"path": str(path), "model": model.source.model, "task": report.task, "total": report.rows}
        return Plan(
            kind="audit",
            argv=(
                self.python, "-P", "-m", "services.swift.supervision",
                Slot("{run}/job.json"), Slot("{run}/" + RESULT),
            ),
            env={**report.env, "TOKENIZERS_PARALLELISM": "false", "CUDA_VISIBLE_DEVICES": ""},
            files={
                "job.json": orjson.dumps(job).decode(), "about.json": orjson.dumps(about).decode(),
                "compared.json": orjson.dumps(compared).decode(),
            },
            then=(
                self.python, "-P", "-m", "services.datasets.repeats",
                Slot("{run}/compared.json"), Slot("{run}/" + REPEATS),
            ),
        )  # fmt: skip

    def start(self, spec: AuditSpec, *, request_id: str = "") -> Record:
        """Start an audit of all rows. Raises Refused as ``prepare`` does."""
        plan = self.prepare(spec)
        name = spec.name.strip() or f"{Path(spec.dataset).name}-audit"
        text = as_yaml(spec.model_dump(exclude_none=True, mode="json"))
        return self.runs.start(plan, name=name, spec=text, request_id=request_id, about={"dataset": spec.dataset})

    def result(self, run_id: str) -> Audit:
        """What an audit of all rows found. Raises Failed("run_failed") where it has not ended well."""
        folder = self.runs.folder(run_id).path
        try:
            about = orjson.loads((folder / "about.json").read_bytes())
            answer = orjson.loads((folder / RESULT).read_bytes())
            path = Path(about.pop("path"))
            return make_audit(answer, path, about["model"], about["task"], about["total"], about["total"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            record = self.runs.record(run_id)
            raise Failed("run_failed", name=record.name, state=Key(f"runs.state.{record.state}")) from error


    def repeats(self, run_id: str) -> list[Finding]:
        """Rows nearly the same, and validation rows among them, that an audit of all rows found. Raises
        Failed("run_failed") where it has not ended well."""
        folder = self.runs.folder(run_id).path
        try:
            path = Path(orjson.loads((folder / "about.json").read_bytes())["path"])
            return read_repeats(folder / REPEATS).findings(path.name)
        except (OSError, ValueError, KeyError, TypeError) as error:
            record = self.runs.record(run_id)
            raise Failed("run_failed", name=record.name, state=Key(f"runs.state.{record.state}")) from error


def leak(training: Sequence[Checked], validation: Sequence[Checked]) -> Finding | None:
    """Rows of the validation files that are in the training files too, word for word; None: there are none."""
    pairs: list[str] = []
    count = 0
    for held in validation:
        for one in training:
            common = shared(held.counts.hashes, one.counts.hashes)
            count += len(common)
            names = held.report.path.name, one.report.path.name
            pairs += [f"{names[0]} {mine} = {names[1]} {theirs}" for mine, theirs in common[: 8 - len(pairs)]]
    if not count:
        return None
    return Finding("rows_leak", count, values={"words": ", ".join(pairs) + (" …" if count > len(pairs) else "")})


def _with(report: Report, finding: Finding) -> Report:
    return replace(report, findings=(*report.findings, finding))
