"""A training as TuneDesk plans it against the one that ms-swift's web UI starts: same model, rows and updates."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.settings import read_settings
from services.specs import TrainSpec
from services.swift import log as swift_log
from services.swift.commands import swift
from services.swift.models import loading_flags
from services.training import argv_settings
from tests.bench.beside import services_in
from tests.bench.figures import Figure, ratios
from tests.bench.natural_rows import write_rows
from tests.bench.resident import run_watched, train_watched
from tests.bench.settings import Settings, note, own_folder

FASTER, FASTER_THAN_DTYPE = 1.5, 1.15
LOSS_BOUND = 0.02
ROWS, REHEARSAL_ROWS, ROWS_LEFT_OUT = 96, 16, 24
UPDATE = 16
"""Rows an optimizer step learns from: the web UI's 1 a device, 16 times added up."""
LEARNING_RATE = 1e-4
PAIRS = 1


@dataclass(frozen=True)
class Trained:
    """How long the steps of a training took, without its evaluation, and what it came to on rows left out of it."""

    seconds: float
    loss: float


def measure(settings: Settings) -> list[Figure]:
    """TuneDesk's plan, the web UI's command, and the web UI's in the precision that TuneDesk plans."""
    speed, beyond_dtype, loss = [], [], []
    for number in range(settings.pairs or PAIRS):
        with own_folder() as home:
            rows = write_rows(home / "rows.jsonl", REHEARSAL_ROWS if settings.rehearsal else ROWS)
            left_out = write_rows(home / "left_out.jsonl", ROWS_LEFT_OUT, start=ROWS)
            ours, dtype = planned(home, rows, left_out)
            theirs = by_web_ui(home, rows, left_out)
            in_our_dtype = by_web_ui(home, rows, left_out, dtype)
        note(f"speed {number + 1}: {ours} against {theirs}, in {dtype} {in_our_dtype}")
        speed.append((ours.seconds, theirs.seconds))
        beyond_dtype.append((ours.seconds, in_our_dtype.seconds))
        loss.append(abs(ours.loss / theirs.loss - 1))
    return [
        ratios("planned training, its seconds", "ms-swift's web UI", speed, 1 / FASTER),
        ratios("planned training, its seconds", f"the same in {dtype}", beyond_dtype, 1 / FASTER_THAN_DTYPE),
        Figure("  its loss on rows left out: off by", "ms-swift's web UI", tuple(loss), LOSS_BOUND),
    ]


def planned(home: Path, rows: Path, left_out: Path) -> tuple[Trained, str]:
    """What TuneDesk plans for a person who says only what the learning is to be; also the precision it chose."""
    trainings = services_in(home).trainings
    learning = {"learning_rate": LEARNING_RATE, "num_train_epochs": 1, **evaluation(left_out)}
    batch = argv_settings(trainings.prepare(TrainSpec(dataset=(str(rows),), args=learning)).plan)
    processes = trainings.prepare(TrainSpec(dataset=(str(rows),), args=learning)).plan.processes
    accumulation = max(1, UPDATE // (int(batch["per_device_train_batch_size"]) * processes))
    spec = TrainSpec(dataset=(str(rows),), args={**learning, "gradient_accumulation_steps": accumulation})
    finished = train_watched(home, spec)
    return trained(finished.output_dir), argv_settings(finished.plan)["torch_dtype"]


def by_web_ui(home: Path, rows: Path, left_out: Path, dtype: str | None = None) -> Trained:
    """What the web UI of ms-swift 4.6 starts when a person gives it a model and data and changes nothing: those of its
    fields whose first value is not the argument's own default, and the flags it always adds (swift/ui/llm_train).
    Without ``use_cpu`` transformers refuses its bfloat16 on a machine without a card."""
    folder = home / f"web-ui-{dtype or 'as it is'}"
    folder.mkdir()
    model = read_settings().starter
    settings: dict[str, Any] = {
        "model": model, **loading_flags(model), "dataset": rows, "tuner_type": "lora", "max_length": 1024,
        "learning_rate": LEARNING_RATE, "gradient_accumulation_steps": UPDATE, "eval_steps": 500, "save_steps": 500,
        "use_cpu": True, "add_version": False, "output_dir": folder / "output", "logging_dir": folder / "runs",
        "num_train_epochs": 1, "check_model": False, **evaluation(left_out),
        **({"torch_dtype": dtype} if dtype else {}),
        **({"fp16": False, "bf16": False} if dtype == "float32" else {}),
    }  # fmt: skip
    words = [word for name, value in settings.items() for word in (f"--{name}", as_word(value))]
    run_watched([*swift(sys.executable), "sft", *words], folder, home)
    return trained(folder / "output")


def evaluation(left_out: Path) -> dict[str, Any]:
    """Both look at the rows left out once, at the end."""
    return {"val_dataset": str(left_out), "eval_strategy": "epoch"}


def as_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def trained(output_dir: Path) -> Trained:
    """From the trainer's own log. Raises KeyError for one that did not come to its end."""
    last: dict[str, float] = {}
    folders = swift_log.versions(output_dir) or [output_dir]
    for line in (folders[-1] / swift_log.METRICS_FILE).read_text(encoding="utf-8").splitlines():
        last |= {name: value for name, value in json.loads(line).items() if isinstance(value, int | float)}
    return Trained(last["train_runtime"] - last["eval_runtime"], last["eval_loss"])
