"""A training run started by TuneDesk against the same command by hand, with no page open and with one in Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from services.bootstrap import Services, build
from services.plan import Plan
from services.runs import process
from services.runs.folder import Record, RunFolder, RunState
from services.settings import read_settings
from services.specs import TrainSpec, as_yaml
from services.swift import log as swift_log
from tests.bench import pages
from tests.bench.figures import Figure, ratios
from tests.bench.settings import Settings, note, own_folder

ALONE_BOUND, PAGE_BOUND = 1.02, 1.10
PAIRS = 3
STEPS = 45
"""Of the starter model on the sample: more than a minute on two cores."""
REHEARSAL_STEPS = 4
BY_HAND = "the same command by hand"
LOOK_EVERY_S = 0.25


@dataclass(frozen=True)
class Took:
    """Seconds of one run."""

    training: float
    """As the trainer itself counts them."""
    whole: float
    """From the command to its end."""


def measure_alone(settings: Settings) -> list[Figure]:
    """``tunedesk train`` follows the run to its end; no window is there."""
    return _measure("no page open", by_tunedesk, ALONE_BOUND, settings)


def measure_page(settings: Settings) -> list[Figure]:
    """The window is open in Chromium, on the run."""
    return _measure("its page open in Chromium", by_tunedesk_with_page, PAGE_BOUND, settings)


def _measure(how: str, ours: Callable[[Path, TrainSpec], Took], bound: float, settings: Settings) -> list[Figure]:
    steps = REHEARSAL_STEPS if settings.rehearsal else STEPS
    with own_folder() as home:
        by_hand(home, spec(2))  # warms the disk's cache
    pairs: list[tuple[Took, Took]] = []
    for number in range(settings.pairs or PAIRS):
        order = (ours, by_hand) if number % 2 else (by_hand, ours)
        took = {}
        for run in order:
            with own_folder() as home, contextlib.closing(Sweeper(home)):
                took[run] = run(home, spec(steps))
        pairs.append((took[ours], took[by_hand]))
        note(f"{how} {number + 1}: {took[ours]} against {took[by_hand]}")
    return [
        ratios(f"training, {how}", BY_HAND, [(a.training, b.training) for a, b in pairs], bound),
        ratios(f"command to end, {how}", BY_HAND, [(a.whole, b.whole) for a, b in pairs], bound),
    ]


def spec(steps: int) -> TrainSpec:
    """The first journey's training, ``steps`` long."""
    return TrainSpec(name="bench", args={"max_steps": steps, "per_device_train_batch_size": 4, "learning_rate": 1e-3})


def by_hand(home: Path, wanted: TrainSpec) -> Took:
    """What TuneDesk would run, run without it in a folder like a run's."""
    folder = home / "by hand"
    folder.mkdir()
    plan = services_in(home).trainings.prepare(wanted).plan.filled({"run": str(folder), "port": str(pages.free_port())})
    for name, text in plan.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    began = time.monotonic()
    _run(plan.argv, folder, {**pages.environment(home), **plan.env})
    return Took(training_seconds(Path(plan.output_dir)), time.monotonic() - began)


def by_tunedesk(home: Path, wanted: TrainSpec) -> Took:
    began = time.monotonic()
    _run(train(home, wanted), home, pages.environment(home))
    whole = time.monotonic() - began
    return Took(_checked(home, wanted), whole)


def by_tunedesk_with_page(home: Path, wanted: TrainSpec) -> Took:
    services = services_in(home)
    with pages.serving(pages.window, home) as server:
        with pages.opened(server.address, "#runs") as page:
            began = time.time()
            _run([*train(home, wanted), "--detach"], home, pages.environment(home))
            record = services.runs.list()[0]
            page.locator("#run-header").get_by_text(record.name).wait_for(timeout=60_000)
            while not (record := services.runs.folder(record.id).read()).state.final:
                page.wait_for_timeout(LOOK_EVERY_S * 1000)
            page.locator("#run-header .td-succeeded").wait_for(timeout=60_000)
    assert record.ended is not None
    return Took(_checked(home, wanted), record.ended - began)


@dataclass(frozen=True)
class Sweeper:
    """Ends the runs that a measurement which broke off has left in its data folder."""

    home: Path

    def close(self) -> None:
        runs = services_in(self.home).runs
        for record in runs.list():
            if not record.state.final:
                runs.stop(record.id, now=True)
                runs.wait(record.id, timeout_s=20)
            process.sweep(str(runs.folder(record.id).path))


def train(home: Path, wanted: TrainSpec) -> list[str]:
    """``tunedesk train SPEC.yaml``."""
    path = home / "spec.yaml"
    path.write_text(as_yaml(wanted.flat()), encoding="utf-8")
    return [sys.executable, "-P", "-m", "services.cli", "train", str(path)]


def services_in(home: Path) -> Services:
    return build(replace(read_settings(pages.environment(home)), roots=(Path("/"),)))


def training_seconds(output_dir: Path) -> float:
    """The trainer's own count of its steps' time."""
    for line in reversed((swift_log.versions(output_dir)[-1] / swift_log.METRICS_FILE).read_text().splitlines()):
        if "train_runtime" in (values := json.loads(line)):
            return float(values["train_runtime"])
    raise RuntimeError(f"no train_runtime below {output_dir}")


def _checked(home: Path, wanted: TrainSpec) -> float:
    """The training seconds of the one run in ``home``, after a look at whether it ran what ``by_hand`` runs."""
    services = services_in(home)
    record: Record = services.runs.list()[0]
    run = RunFolder(home / "runs" / record.id)
    assert record.state is RunState.SUCCEEDED, record
    expected: Plan = services.trainings.prepare(wanted).plan.filled({"run": str(run.path)})
    assert run.read_plan(record.attempt).argv == expected.argv
    return training_seconds(Path(record.output_dir))


def _run(argv: list[str] | tuple[str, ...], folder: Path, env: dict[str, str]) -> None:
    """Run a command to its end, its output in a file. Raises RuntimeError where it fails."""
    log = folder / "output.log"
    with log.open("ab") as output:
        child = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output,
                                 stderr=subprocess.STDOUT, start_new_session=True)  # fmt: skip
    try:
        code = child.wait()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        raise
    if code:
        raise RuntimeError(f"{argv[:4]} ended with {code}: {log.read_text(errors='replace')[-2000:]}")
