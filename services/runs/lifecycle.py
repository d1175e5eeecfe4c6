"""What can be done with runs: start, stop, resume, delete, find, list. Any number of processes may do so at once."""

from __future__ import annotations

import errno
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from services.errors import Failed, Refused
from services.plan import Plan
from services.runs import folder as folders
from services.runs import process, queue
from services.runs.folder import GRACE_S, Record, RunFolder, RunState
from services.runs.snapshot import RunReader, Snapshot


@dataclass
class Runs:
    """The runs below one folder."""

    root: Path

    def __post_init__(self) -> None:
        self._readers: dict[str, RunReader] = {}
        self._finished: dict[str, tuple[float, Record]] = {}

    def start(
        self,
        plan: Plan,
        *,
        name: str,
        spec: str,
        request_id: str = "",
        about: dict[str, Any] | None = None,
        now: bool = False,
        parent: str | None = None,
        grace_s: float = GRACE_S,
    ) -> Record:
        """Make the run's folder and start its keeper. The same ``request_id`` twice is one run.

        ``spec`` is the text of its spec.yaml. Raises Failed("disk_full" or "cannot_write") where the
        folder cannot be made.
        """
        try:
            with queue.lock(self.root):
                if request_id:
                    for record in self.list():
                        if record.request_id == request_id:
                            return record
                name = self.free_name(name)
                run_id = folders.new_id(self.root, name)
                record = Record(
                    id=run_id, name=name, kind=plan.kind, created=time.time(),
                    queued=time.time(), now=now, needs=plan.needs, request_id=request_id, parent=parent,
                    total_steps=plan.total_steps, about=about or {}, grace_s=grace_s,
                    output_dir=plan.filled({"run": str(self.root / run_id)}).output_dir,
                )  # fmt: skip
                run = self._make(run_id, record, plan, spec)
        except OSError as error:
            raise _write_failure(error, self.root) from error
        self._keep(run, record)
        return record

    def _make(self, run_id: str, record: Record, plan: Plan, spec: str) -> RunFolder:
        hidden = RunFolder(self.root / f".{run_id}.new")
        try:
            hidden.attempt(1).mkdir(parents=True)
            hidden.spec.write_text(spec, encoding="utf-8")
            hidden.write_plan(1, plan)
            hidden.write(record)
            hidden.path.rename(self.root / run_id)
        except OSError:
            shutil.rmtree(hidden.path, ignore_errors=True)
            raise
        return RunFolder(self.root / run_id)

    def _keep(self, run: RunFolder, record: Record) -> None:
        process.spawn_free(
            [process.python(), "-P", "-m", "services.runs.keeper", str(run.path)],
            cwd=run.path,
            log=run.keeper_log(record.attempt),
        )

    def resume(self, run_id: str, plan: Plan) -> Record:
        """Start a new attempt of a run that has ended. Raises Refused("still_running")."""
        run = RunFolder(self.root / run_id)
        try:
            with queue.lock(self.root):
                record = self.record(run_id)
                if not record.state.final:
                    raise Refused("still_running", name=record.name)
                process.sweep(str(run.path))
                run.forget_stop()
                record = replace(
                    record, state=RunState.QUEUED, attempt=record.attempt + 1, queued=time.time(), keeper=None,
                    child=None, started=None, ended=None, stopping_since=None, exit_code=None, error=None,
                    failures=(), warning=None, now=False, needs=plan.needs,
                    spent_s=record.spent_s + run.attempt_s(record),
                )  # fmt: skip
                run.attempt(record.attempt).mkdir(parents=True, exist_ok=True)
                run.write_plan(record.attempt, plan)
                run.write(record)
        except OSError as error:
            raise _write_failure(error, self.root) from error
        self._keep(run, record)
        return record

    def stop(self, run_id: str, *, now: bool = False) -> Record:
        """Ask a run to end: saving first, or at once. Returns without waiting; see ``wait``."""
        run = RunFolder(self.root / run_id)
        record = self.record(run_id)
        if record.state is RunState.LOST:
            process.sweep(str(run.path))
            return record
        if not record.state.final:
            run.ask_to_stop(now=now, at=time.time())
        return record

    def wait(self, run_id: str, timeout_s: float | None = None, poll_s: float = 0.2) -> Record:
        """Wait until a run has ended (or ``timeout_s`` is over) and return its record. Raises as ``record`` does."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            record = self.record(run_id)
            if record.state.final or (deadline is not None and time.monotonic() > deadline):
                return record
            time.sleep(poll_s)

    def delete(self, run_id: str) -> int:
        """Delete a run that has ended, with what it made in TuneDesk's own folders, and return the bytes that freed;
        ``kept`` says before what stays. Raises Refused("still_running"), Failed("cannot_write").
        """
        run = RunFolder(self.root / run_id)
        try:
            with queue.lock(self.root):
                record = self.record(run_id)
                if not record.state.final:
                    raise Refused("still_running", name=record.name)
                process.sweep(str(run.path))
                size = self.size_bytes(record)
                if (model := self._own_model(record)) is not None:
                    folders.remove(RunFolder(model))
                folders.remove(run)
        except OSError as error:
            raise _write_failure(error, self.root) from error
        self._readers.pop(run_id, None)
        self._finished.pop(run_id, None)
        return size

    def waits_for(self, record: Record) -> list[Record]:
        """The runs that one in the queue waits for."""
        return queue.ahead_of(record, [other for other in self.list() if other.id != record.id])

    def size_bytes(self, record: Record) -> int:
        """What deleting the run would free."""
        model = self._own_model(record)
        return self.folder(record.id).size_bytes() + (RunFolder(model).size_bytes() if model is not None else 0)

    def kept(self, record: Record) -> str:
        """The folder with what the run made, where deleting the run leaves that; else empty."""
        made = Path(record.output_dir)
        inside = not record.output_dir or made.is_relative_to(self.root / record.id)
        return "" if inside or self._own_model(record) is not None or not made.exists() else record.output_dir

    def _own_model(self, record: Record) -> Path | None:
        """The folder of the model that a merge made, where it lies in TuneDesk's own folder of models and no other
        run made it too or builds on it."""
        made = Path(record.output_dir)
        if record.kind != "merge" or made.parent != self.root.parent / "models" or not made.is_dir():
            return None
        others = [other for other in self.list() if other.id != record.id]
        used = any(record.output_dir in (other.output_dir, other.about.get("base")) for other in others)
        return None if used else made

    def list(self) -> list[Record]:
        """All runs, the newest first. A run that has ended is read from disk once."""
        records = []
        for run in folders.list_runs(self.root):
            try:
                modified = run.state.stat().st_mtime
                known = self._finished.get(run.id)
                if known is None or known[0] != modified:
                    record = run.read()
                    if record.state.final and record.state is not RunState.LOST:
                        self._finished[run.id] = (modified, record)
                    records.append(record)
                else:
                    records.append(known[1])
            except (OSError, ValueError):
                continue
        return sorted(records, key=lambda record: record.created, reverse=True)

    def find(self, text: str) -> Record:
        """The run meant by an id, a unique beginning of one, a name (the newest that has it) or ``last``.

        Raises Refused("run_not_found" or "run_ambiguous").
        """
        records = self.list()
        if text == "last" and records:
            return records[0]
        for record in records:
            if text == record.id:
                return record
        for record in records:
            if text == record.name:
                return record
        matches = [record for record in records if text and record.id.startswith(text)]
        if len(matches) > 1:
            raise Refused("run_ambiguous", run=text, count=len(matches))
        if not matches:
            raise Refused("run_not_found", run=text)
        return matches[0]

    def snapshot(self, run_id: str) -> Snapshot:
        """The run now. Raises Refused("run_not_found") where it is gone or unreadable."""
        if "/" in run_id or run_id.startswith("."):
            raise Refused("run_not_found", run=run_id)
        reader = self._readers.setdefault(run_id, RunReader(RunFolder(self.root / run_id)))
        try:
            return reader.read()
        except (OSError, ValueError) as error:
            self._readers.pop(run_id, None)
            raise Refused("run_not_found", run=run_id) from error

    def record(self, run_id: str) -> Record:
        """The record now. Raises Refused("run_not_found") where somebody has deleted the run."""
        try:
            return RunFolder(self.root / run_id).read()
        except FileNotFoundError as error:
            raise Refused("run_not_found", run=run_id) from error

    def folder(self, run_id: str) -> RunFolder:
        return RunFolder(self.root / run_id)

    def free_name(self, name: str) -> str:
        """``name``, or with the next free number behind it when a run already has it."""
        taken = {record.name for record in self.list()}
        candidate, number = name, 2
        while candidate in taken:
            candidate, number = f"{name}-{number}", number + 1
        return candidate


def _write_failure(error: OSError, root: Path) -> Failed:
    code = "run_disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "cannot_write"
    return Failed(code, what=str(root), details=str(error))
