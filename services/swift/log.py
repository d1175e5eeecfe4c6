"""ms-swift's own traces of a training run: its log, its metrics file, its versioned output folder."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

METRICS_FILE = "logging.jsonl"
_STEP_KEY = "global_step/max_steps"
_OUTPUT_DIR = re.compile(rb"^\[INFO:swift\] output_dir: (.+)", re.M)
_VERSION = re.compile(r"v(\d+)-")
_BAR = re.compile(r"(?:Train|Download|Audit):\s+\d+%\|[^|]*\| (\d+)/(\d+) \[(?:[^,\]]*), *([^\]]*)")
_RATE = re.compile(r"([\d.]+)(s/it|it/s)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PHASES = (
    ("Train:", "training"),
    ("The logging file will be saved", "training"),
    ("model_parameter_info", "preparing"),
    ("Dataset Token Length", "preparing"),
    ("Map", "reading_data"),
    ("Start time of running main", "loading"),
    ("rank:", "loading"),
)
NAMES = {
    "loss": "loss",
    "learning_rate": "learning_rate",
    "grad_norm": "grad_norm",
    "token_acc": "token_acc",
    "eval_loss": "eval_loss",
    "memory(GiB)": "memory_gib",
    "train_speed(s/it)": "seconds_per_step",
}
"""ms-swift's key -> ours, for the figures that are charted."""


@dataclass(frozen=True)
class Metric:
    """One figure at one step; ``value`` may be nan or infinite, as the trainer reported it."""

    step: int
    name: str
    value: float


@dataclass
class MetricsReader:
    """Reads a growing ``logging.jsonl``: each call to ``read`` costs only the bytes that are new."""

    path: Path
    offset: int = 0
    partial: bytes = b""
    metrics: list[Metric] = field(default_factory=list)
    step: int | None = None
    total_steps: int | None = None
    finished: bool = False
    """True once the trainer has written its closing summary after its last step."""

    def read(self) -> bool:
        """Take in what is new; True when something was."""
        try:
            if self.path.stat().st_size == self.offset:
                return False
            with self.path.open("rb") as file:
                file.seek(self.offset)
                data = file.read()
        except OSError:
            return False
        self.offset += len(data)
        *lines, self.partial = (self.partial + data).split(b"\n")
        for line in lines:
            self._take(line)
        return bool(lines)

    def _take(self, line: bytes) -> None:
        try:
            value = json.loads(line)  # not orjson: the trainer writes NaN and Infinity
        except ValueError:
            return
        if not isinstance(value, dict):
            return
        if "last_model_checkpoint" in value:
            # ms-swift writes this summary whenever training ends, also after an error and after a stop
            done = value.get("global_step")
            self.finished = isinstance(done, int) and self.total_steps is not None and done >= self.total_steps
            return
        step, _, total = str(value.get(_STEP_KEY, "")).partition("/")
        if not (step.isdigit() and total.isdigit()):
            return
        self.step, self.total_steps = int(step), int(total)
        for key, name in NAMES.items():
            number = _number(value.get(key))
            if number is not None and "train_runtime" not in value:
                self.metrics.append(Metric(self.step, name, number))


@dataclass(frozen=True)
class Bar:
    """What the last progress bar in a log said."""

    step: int
    total_steps: int
    seconds_per_step: float | None


def last_bar(tail: str) -> Bar | None:
    """The trainer's newest progress bar in the end of a log."""
    found = None
    for found in _BAR.finditer(tail):  # noqa: B007
        pass
    if found is None:
        return None
    rate = _RATE.search(found[3])
    seconds = None
    if rate is not None and float(rate[1]) > 0:
        seconds = float(rate[1]) if rate[2] == "s/it" else 1 / float(rate[1])
    return Bar(int(found[1]), int(found[2]), seconds)


def phase(tail: str) -> str:
    """What the trainer is doing, from the end of its log: starting, loading, reading_data, preparing, training."""
    best, where = "starting", -1
    for marker, name in _PHASES:
        position = tail.rfind(marker)
        if position > where:
            best, where = name, position
    return best


def readable(data: bytes) -> str:
    """The end of a raw log as text: progress bars reduced to their last state, colours removed."""
    text = _ANSI.sub("", data.decode("utf-8", errors="replace")).replace("\r\n", "\n")
    lines = []
    for line in text.split("\n"):
        parts = [part for part in line.split("\r") if part.strip()]
        lines.append(parts[-1].rstrip() if parts else "")
    return "\n".join(lines)


def real_output_dir(log: Path) -> Path | None:
    """The versioned folder that ms-swift says it writes to, from the beginning of an attempt's log."""
    try:
        with log.open("rb") as file:
            found = _OUTPUT_DIR.search(file.read(1 << 18))
    except OSError:
        return None
    return Path(found[1].decode("utf-8", errors="replace").strip()) if found else None


def versions(output_dir: Path) -> list[Path]:
    """The folders a training has written below ``output_dir``, the oldest first; itself when not versioned."""
    try:
        names = [entry for entry in output_dir.iterdir() if entry.is_dir() and _VERSION.match(entry.name)]
    except OSError:
        return []
    if (output_dir / METRICS_FILE).exists() or any(output_dir.glob("checkpoint-*")):
        return [output_dir, *sorted(names, key=_version)]
    return sorted(names, key=_version)


def finished(output_dir: Path, since: float | None) -> bool:
    """True when a training that began after ``since`` (epoch seconds) did all its steps and saved them there."""
    for folder in reversed(versions(output_dir)):
        path = folder / METRICS_FILE
        try:
            if path.stat().st_mtime < (since or 0) - 1:
                continue
        except OSError:
            continue
        reader = MetricsReader(path)
        reader.read()
        return reader.finished
    return False


def _version(path: Path) -> tuple[int, str]:
    found = _VERSION.match(path.name)
    return (int(found[1]) if found else 0, path.name)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def is_finite(value: float) -> bool:
    """False for nan and the infinities."""
    return math.isfinite(value)
