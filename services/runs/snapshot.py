"""All that a screen needs to know of a run at one moment, read from its folder alone."""

from __future__ import annotations

import time
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path

from services.runs import process
from services.runs.folder import Record, RunFolder, RunState
from services.swift import log as swift_log
from services.swift.checkpoints import Checkpoint, list_checkpoints
from services.swift.log import Metric, MetricsReader

TAIL_BYTES = 64 * 1024


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment. Durations are in seconds, memory in bytes."""

    record: Record
    phase: str
    step: int | None
    total_steps: int | None
    metrics: tuple[Metric, ...]
    log_tail: str
    elapsed_s: float | None
    """Over all attempts, without what lay between them."""
    eta_s: float | None
    seconds_per_step: float | None
    memory_bytes: int | None
    checkpoints: tuple[Checkpoint, ...]
    stopping_left_s: float | None

    @property
    def fraction(self) -> float | None:
        """Progress from 0 to 1, None while it is not known."""
        if self.record.state is RunState.SUCCEEDED:
            return 1.0
        if self.step is None or not self.total_steps:
            return None
        return min(1.0, self.step / self.total_steps)

    def series(self, name: str) -> list[tuple[float, float]]:
        """The points of one chart, by step."""
        return [(metric.step, metric.value) for metric in self.metrics if metric.name == name]


@dataclass
class RunReader:
    """Follows one run; every reading costs what is new, not what is there."""

    folder: RunFolder
    readers: dict[Path, MetricsReader] = field(default_factory=dict)
    outputs: dict[int, Path] = field(default_factory=dict)
    tail: str = ""
    tail_key: tuple[int, int] = (0, -1)

    def read(self) -> Snapshot:
        """The run now. Raises OSError or ValueError where its record cannot be read."""
        record = self.folder.read()
        self._read_log(record)
        folders = self._output_folders(record)
        for folder in folders:
            reader = self.readers.setdefault(folder, MetricsReader(folder / swift_log.METRICS_FILE))
            reader.read()
        current = self.readers.get(self.outputs.get(record.attempt, Path()))
        bar = swift_log.last_bar(self.tail)
        reported = [reader for reader in self.readers.values() if reader.step is not None]
        step = max((x for x in (bar.step if bar else None, current.step if current else None) if x is not None),
                   default=reported[-1].step if reported else None)  # fmt: skip
        total = bar.total_steps if bar else reported[-1].total_steps if reported else record.total_steps
        pace = self._pace(current, bar)
        running = record.state is RunState.RUNNING
        return Snapshot(
            record=record,
            phase=self._phase(record),
            step=step,
            total_steps=total,
            metrics=joined([self.readers[folder].metrics for folder in folders]),
            log_tail=self.tail,
            elapsed_s=record.spent_s + self.folder.attempt_s(record) if record.started else None,
            eta_s=pace * max(0, total - step) if running and pace and total and step is not None else None,
            seconds_per_step=pace,
            memory_bytes=_memory(record),
            checkpoints=tuple(list_checkpoints(folders)),
            stopping_left_s=_stopping_left(record),
        )

    def _read_log(self, record: Record) -> None:
        path = self.folder.log(record.attempt)
        try:
            size = path.stat().st_size
        except OSError:
            self.tail, self.tail_key = "", (record.attempt, -1)
            return
        if (record.attempt, size) == self.tail_key:
            return
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            data = file.read(TAIL_BYTES)
        if size > TAIL_BYTES:
            data = data.partition(b"\n")[2] or data
        self.tail, self.tail_key = swift_log.readable(data), (record.attempt, size)

    def _output_folders(self, record: Record) -> list[Path]:
        """Where each attempt wrote, the oldest first."""
        for attempt in range(1, record.attempt + 1):
            if attempt not in self.outputs:
                found = swift_log.real_output_dir(self.folder.log(attempt))
                if found is not None:
                    self.outputs[attempt] = found
        folders = [self.outputs[attempt] for attempt in sorted(self.outputs)]
        if not folders and record.kind == "train" and record.output_dir:
            folders = swift_log.versions(Path(record.output_dir))
        return list(dict.fromkeys(folders))

    def _pace(self, current: MetricsReader | None, bar: swift_log.Bar | None) -> float | None:
        if bar is not None and bar.seconds_per_step:
            return bar.seconds_per_step
        if current is not None:
            for metric in reversed(current.metrics):
                if metric.name == "seconds_per_step" and metric.value > 0:
                    return metric.value
        return None

    def _phase(self, record: Record) -> str:
        if record.state is RunState.RUNNING and record.kind == "train":
            return swift_log.phase(self.tail)
        return record.state.value


def joined(attempts: list[list[Metric]]) -> tuple[Metric, ...]:
    """One chart out of several attempts: where a later one starts again, its points replace the earlier."""
    result: list[Metric] = []
    for metrics in attempts:
        if metrics:
            del result[bisect_left(result, metrics[0].step, key=lambda metric: metric.step) :]
        result += metrics
    return tuple(result)


def _memory(record: Record) -> int | None:
    if record.child is None or record.state.final or not record.child.alive():
        return None
    return process.resident_bytes(record.child.pid)


def _stopping_left(record: Record) -> float | None:
    if record.state is not RunState.STOPPING or record.stopping_since is None:
        return None
    return max(0.0, record.stopping_since + record.grace_s - time.time())
