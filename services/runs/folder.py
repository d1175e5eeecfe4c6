"""A run is a folder. This file alone spells the names in it; everything else asks here.

    runs/<id>/spec.yaml                what the person asked for, frozen
    runs/<id>/state.json               where the run stands; written by its keeper
    runs/<id>/stop.json                somebody asked it to stop; stop.json.* is how its trainer answers
    runs/<id>/attempts/<n>/plan.json   the command of this attempt; once it started, with its gaps filled
    runs/<id>/attempts/<n>/output.log  everything it printed
    runs/<id>/output/                  what it made, unless the spec names another place
"""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
import time
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from services.plan import Plan, plan_from_json
from services.runs.process import Identity


class RunState(StrEnum):
    """Where a run stands; the last four are final."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    READY = "ready"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"

    @property
    def final(self) -> bool:
        return self in (RunState.SUCCEEDED, RunState.FAILED, RunState.STOPPED, RunState.LOST)


GRACE_S = 30.0
"""How long a training run that is asked to stop may take to save."""


@dataclass(frozen=True)
class Record:
    """What ``state.json`` says. Times are seconds since the epoch."""

    id: str
    name: str
    kind: str
    state: RunState = RunState.QUEUED
    attempt: int = 1
    created: float = 0.0
    queued: float = 0.0
    """When this attempt joined the queue."""
    started: float | None = None
    ended: float | None = None
    ready_at: float | None = None
    """When a server began to answer."""
    spent_s: float = 0.0
    """What the attempts before this one took."""
    keeper: Identity | None = None
    child: Identity | None = None
    now: bool = False
    """Started without waiting for its turn."""
    needs: str = "cpu"
    devices: tuple[str, ...] = ()
    port: int | None = None
    output_dir: str = ""
    stopping_since: float | None = None
    grace_s: float = GRACE_S
    exit_code: int | None = None
    error: dict[str, Any] | None = None
    """``{"code", "values", "line"}``: an entry of services/text and the log line it was read from."""
    failures: tuple[dict[str, Any], ...] = ()
    """``error`` and ``attempt`` of each attempt that failed and was followed by another without being asked."""
    warning: str | None = None
    request_id: str = ""
    parent: str | None = None
    total_steps: int | None = None
    about: dict[str, Any] = field(default_factory=dict)
    """What other rooms need to know of it: the model it trains or serves, the names it was taught."""

    @property
    def live(self) -> bool:
        """True while a keeper looks after it."""
        return not self.state.final and self.keeper is not None and self.keeper.alive()


@dataclass(frozen=True)
class RunFolder:
    """The paths of one run."""

    path: Path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def spec(self) -> Path:
        return self.path / "spec.yaml"

    @property
    def state(self) -> Path:
        return self.path / "state.json"

    @property
    def stop(self) -> Path:
        return self.path / "stop.json"

    @property
    def stop_listener(self) -> Path:
        """Made by a trainer that will hear of a request to stop (services/swift/plugins/save_on_stop.py)."""
        return self.stop.with_name(self.stop.name + ".listening")

    def ask_to_stop(self, *, now: bool, at: float) -> None:
        """Write the request; on a full disk an empty one, which asks the same."""
        try:
            write_whole(self.stop, orjson.dumps({"now": now, "at": at}))
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self.stop.touch()

    def forget_listener(self) -> None:
        """Take back what a trainer that is gone answered."""
        for path in self.path.glob(self.stop.name + ".*"):
            path.unlink(missing_ok=True)

    def forget_stop(self) -> None:
        """Take back a request to stop, and what came of it, before a new attempt."""
        for path in self.path.glob(self.stop.name + "*"):
            path.unlink(missing_ok=True)

    def attempt(self, number: int) -> Path:
        return self.path / "attempts" / str(number)

    def plan(self, number: int) -> Path:
        return self.attempt(number) / "plan.json"

    def log(self, number: int) -> Path:
        return self.attempt(number) / "output.log"

    def keeper_log(self, number: int) -> Path:
        return self.attempt(number) / "keeper.log"

    def read(self) -> Record:
        """The record. Raises FileNotFoundError where there is none, ValueError where it is damaged.

        A run whose keeper is gone without a verdict reads as LOST.
        """
        for _ in range(2):  # a keeper may give its verdict and end between the reading and the look at it
            record = record_from_json(orjson.loads(self.state.read_bytes()))
            is_new = record.keeper is None and time.time() - record.queued < KEEPER_START_S
            if record.state.final or record.live or is_new:
                return record
        return replace(record, state=RunState.LOST)

    def write(self, record: Record) -> None:
        """Replace the record in one step, so that no reader ever sees half of it."""
        write_whole(self.state, _state_json(record))

    def write_over(self, record: Record) -> None:
        """Write the record into the old one's place, for a disk that has no room for both."""
        with self.state.open("r+b", buffering=0) as file:
            file.write(_state_json(record))
            file.truncate()

    def read_plan(self, number: int) -> Plan:
        """The plan of attempt ``number``. Raises OSError or ValueError where there is none."""
        try:
            return plan_from_json(orjson.loads(self.plan(number).read_bytes()))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a plan: {error}") from error

    def write_plan(self, number: int, plan: Plan) -> None:
        write_whole(self.plan(number), orjson.dumps(plan.as_json(), option=orjson.OPT_INDENT_2))

    def attempt_s(self, record: Record) -> float:
        """Seconds that the attempt in ``record`` has taken so far; of a lost one, until it wrote its last word."""
        if record.started is None:
            return 0.0
        ended = record.ended or time.time()
        if record.ended is None and record.state.final:
            with contextlib.suppress(OSError):
                ended = self.log(record.attempt).stat().st_mtime
        return max(0.0, ended - record.started)

    def size_bytes(self) -> int:
        """What deleting the folder would free."""
        total = 0
        for path in self.path.rglob("*"):
            with contextlib.suppress(OSError):
                if not path.is_symlink():
                    total += path.stat().st_size
        return total


KEEPER_START_S = 60.0
"""A run that has no keeper yet is new for this long, and lost after it."""


def _state_json(record: Record) -> bytes:
    return orjson.dumps(record_as_json(record), option=orjson.OPT_INDENT_2)


def record_as_json(record: Record) -> dict[str, Any]:
    return asdict(record) | {"state": record.state.value}


def record_from_json(value: dict[str, Any]) -> Record:
    """Raises ValueError for a value that no record can be made of."""
    try:
        known = {name: item for name, item in value.items() if name in Record.__dataclass_fields__}
        return Record(
            **known
            | {
                "state": RunState(value["state"]),
                "keeper": Identity(**value["keeper"]) if value.get("keeper") else None,
                "child": Identity(**value["child"]) if value.get("child") else None,
                "devices": tuple(value.get("devices") or ()),
                "failures": tuple(value.get("failures") or ()),
            }
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a run's record: {error}") from error


def write_whole(path: Path, data: bytes) -> None:
    """Write under a temporary name, then rename."""
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    partial.replace(path)


def list_runs(root: Path) -> list[RunFolder]:
    """All runs, the newest first; a folder without a record (half deleted, foreign) is not a run."""
    try:
        names = sorted((entry.name for entry in root.iterdir() if not entry.name.startswith(".")), reverse=True)
    except FileNotFoundError:
        return []
    return [RunFolder(root / name) for name in names if (root / name / "state.json").is_file()]


def new_id(root: Path, name: str) -> str:
    """A folder name that sorts by time and says what it is: ``20260131-120000-my-robot``."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    slug = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:40] or "run"
    candidate, number = f"{stamp}-{slug}", 2
    while (root / candidate).exists():
        candidate, number = f"{stamp}-{slug}-{number}", number + 1
    return candidate


def remove(folder: RunFolder) -> None:
    """Delete the folder: first out of sight, then for good, so that a half deleted run is never listed."""
    hidden = folder.path.with_name("." + folder.path.name + ".deleted")
    folder.path.rename(hidden)
    shutil.rmtree(hidden, ignore_errors=True)
