"""A training as TuneDesk plans it, run to its end, and the most memory its processes held."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from services.plan import Plan
from services.specs import TrainSpec
from tests.bench import pages
from tests.bench.beside import services_in

LOOK_EVERY_S = 1.0
"""A look at what processes share costs them some 30 ms; the kernel notes each one's peak by itself."""
LIMIT_S = 600.0
GIB = 1 << 30


@dataclass(frozen=True)
class Finished:
    """A training that has ended well."""

    plan: Plan
    output_dir: Path
    peak_gib: float
    """Resident memory of all its processes at the busiest moment."""


def train_watched(home: Path, wanted: TrainSpec, change: Mapping[str, str | None] | None = None) -> Finished:
    """Run what ``wanted`` comes to in a folder of its own; ``change`` sets or (None) drops words of its command.

    Raises RuntimeError with the end of the output where it fails.
    """
    folder = home / f"run-{time.time_ns()}"
    folder.mkdir()
    prepared = services_in(home).trainings.prepare(wanted)
    plan = prepared.plan.filled({"run": str(folder), "port": str(pages.free_port())})
    for name, text in plan.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    peak = run_watched(changed(plan.argv, change or {}), folder, home, plan.env)
    return Finished(plan, Path(plan.output_dir), peak)


def run_watched(argv: Sequence[str], folder: Path, home: Path, env: Mapping[str, str] | None = None) -> float:
    """Run a command to its end; GiB of resident memory that its processes held at most.

    Raises RuntimeError with the end of its output where it fails.
    """
    log = folder / "output.log"
    with log.open("ab") as output:
        child = subprocess.Popen(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                 env={**pages.environment(home), **(env or {})}, start_new_session=True)  # fmt: skip
    try:
        peak = _watch(child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    if child.returncode:
        raise RuntimeError(f"the training ended with {child.returncode}: {log.read_text(errors='replace')[-2000:]}")
    return peak / GIB


def changed(argv: tuple[str, ...], change: Mapping[str, str | None]) -> list[str]:
    """``argv`` with single-valued options set or dropped."""
    words = list(argv)
    for name, value in change.items():
        option = f"--{name}"
        if option in words:
            place = words.index(option)
            del words[place : place + 2]
        if value is not None:
            words += [option, value]
    return words


def _watch(child: subprocess.Popen[bytes]) -> int:
    """Bytes: the most its processes held together at any look, what they share counted once (PSS), and no less than
    the kernel saw one of them hold between two looks."""
    most = 0
    until = time.monotonic() + LIMIT_S
    while child.poll() is None:
        if time.monotonic() > until:
            raise RuntimeError(f"the training takes more than {LIMIT_S:.0f} s")
        with contextlib.suppress(psutil.Error):
            family = [psutil.Process(child.pid), *psutil.Process(child.pid).children(recursive=True)]
            most = max(most, sum(held(one) for one in family), *(high_water(one.pid) for one in family))
        time.sleep(LOOK_EVERY_S)
    return most


def held(one: psutil.Process) -> int:
    """Its resident bytes, of shared ones its part; 0 for one that is gone."""
    try:
        return int(one.memory_full_info().pss)
    except psutil.Error:
        return 0


def high_water(pid: int) -> int:
    """VmHWM of a process in bytes, 0 for one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
