"""Reading a run with a log of 50 MB and 100,000 metrics: the first time, and again when nothing is new."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from services.runs import process
from services.runs.folder import Record, RunFolder, RunState
from services.runs.snapshot import RunReader
from services.swift import log as swift_log
from tests.bench.figures import Figure, ratios
from tests.bench.settings import Settings, note, own_folder

LOG_BYTES = 50_000_000
STEPS = 25_000
NAMES = ("loss", "grad_norm", "learning_rate", "token_acc")
FIRST_BOUND = 1.0
SECOND_BOUND_MS = 5.0
PAIRS = 5


def measure(settings: Settings) -> list[Figure]:
    """A first reading against reading the same files plainly, and a second reading in milliseconds."""
    with own_folder() as home:
        run = long_run(home)
        pairs, seconds = [], []
        for _ in range(settings.pairs or PAIRS):
            reader = RunReader(run)
            pairs.append((timed(reader.read), timed(lambda: read_plainly(run))))
            seconds.append(1000 * timed(reader.read))
        snapshot = reader.read()
        assert len(snapshot.metrics) == STEPS * len(NAMES)
        assert (snapshot.step, snapshot.total_steps) == (STEPS, STEPS)
    note(f"snapshot: first {pairs[0][0]:.3f} s, plain reading {pairs[0][1]:.3f} s, second {seconds[0]:.2f} ms")
    return [
        ratios("first snapshot, 50 MB of log, 100,000 metrics", "reading both files plainly", pairs, FIRST_BOUND),
        Figure("second snapshot, nothing new", "", tuple(seconds), SECOND_BOUND_MS, "ms"),
    ]


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def read_plainly(run: RunFolder) -> int:
    """The log as lines of text, the metrics as JSON."""
    log = run.log(1).read_text("utf-8").splitlines()
    metrics = [json.loads(line) for line in metrics_file(run).read_text("utf-8").splitlines()]
    return len(log) + len(metrics)


def metrics_file(run: RunFolder) -> Path:
    return run.path / "output" / "v0-20260101-000000" / swift_log.METRICS_FILE


def long_run(home: Path) -> RunFolder:
    """A run's folder as a long training leaves it that is still under way."""
    run = RunFolder(home / "runs" / "20260101-000000-long")
    run.attempt(1).mkdir(parents=True)
    metrics_file(run).parent.mkdir(parents=True)
    run.write(
        Record(run.id, "long", "train", RunState.RUNNING, created=1.0, started=1.0, keeper=process.me(),
               child=process.me(), output_dir=str(run.path / "output"), total_steps=STEPS)
    )  # fmt: skip
    with metrics_file(run).open("wb") as file:
        for step in range(1, STEPS + 1):
            values = {name: 1 / step for name in NAMES}
            file.write(orjson.dumps({**values, "global_step/max_steps": f"{step}/{STEPS}"}) + b"\n")
    with run.log(1).open("w", encoding="utf-8") as log:
        log.write(f"[INFO:swift] output_dir: {metrics_file(run).parent}\n")
        for step in range(1, STEPS + 1):
            log.write(_bar(step) * round(LOG_BYTES / STEPS / len(_bar(step).encode())))
            if step % 10 == 0:
                log.write(f"\n{{'loss': {1 / step}, 'grad_norm': 1.0}}\n")
    assert 0.9 < run.log(1).stat().st_size / LOG_BYTES < 1.1
    return run


def _bar(step: int) -> str:
    share = step / STEPS
    return f"\rTrain: {share:4.0%}|{'█' * int(20 * share):<20}| {step}/{STEPS} [1:00:00<1:00:00, 1.25s/it]"
