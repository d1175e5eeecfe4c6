"""Data for every method, and trainings of the tiny model in one process that imports ms-swift once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from safetensors.numpy import load_file

from services.bootstrap import Services
from services.specs import train_spec
from services.swift.methods import method_of

HERE = Path(__file__).parent
ROWS = 24
SHORT = {
    "max_steps": 3, "logging_steps": 1, "max_length": 64, "report_to": ["none"], "per_device_train_batch_size": 4,
    "gradient_accumulation_steps": 1, "strategy": "single", "save_steps": 3,
}  # fmt: skip
REWARD = '''"""A rule that rewards letters, so that the answers of a random model earn different sums."""

from swift.rewards import ORM, orms


class Letters(ORM):
    def __call__(self, completions, **kwargs):
        return [sum(letter.isalpha() for letter in text) / (len(text) + 1) for text in completions]


orms["letters"] = Letters
'''


@dataclass(frozen=True)
class Outcome:
    """How one training ended."""

    name: str
    logs: list[dict[str, Any]]
    error: str
    output: Path
    log: Path
    rates: list[float]
    """The learning rate that each group of parameters started with."""

    @property
    def losses(self) -> list[float]:
        return [log["loss"] for log in self.logs if "loss" in log]

    @property
    def checkpoint(self) -> Path:
        return next(self.output.glob("v0-*/checkpoint-3"))

    def weights(self) -> dict[str, numpy.ndarray]:
        """Those of the checkpoint: the adapter's, or the model's."""
        adapter = self.checkpoint / "adapter_model.safetensors"
        file = adapter if adapter.exists() else self.checkpoint / "model.safetensors"
        found: dict[str, numpy.ndarray] = load_file(file)
        return found

    def adapter_config(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.checkpoint / "adapter_config.json").read_bytes())
        return found


def write_rows(folder: Path) -> dict[str, Path]:
    """What a method learns from -> a file of such rows."""
    turns = [
        [{"role": "user", "content": f"Number {n}?"}, {"role": "assistant", "content": f"It is {n * n}."}]
        for n in range(ROWS)
    ]
    rows: dict[str, list[dict[str, Any]]] = {
        "sft": [{"messages": turn} for turn in turns],
        "pt": [{"messages": turn[1:]} for turn in turns],
        "preference": [{"messages": turn, "rejected_response": f"No idea, {n}."} for n, turn in enumerate(turns)],
        "kto": [{"messages": turn, "label": n % 2 == 0} for n, turn in enumerate(turns)],
        "prompts": [{"messages": turn[:1], "solution": turn[1]["content"]} for turn in turns],
    }
    files = {name: folder / f"{name}.jsonl" for name in rows}
    for name, file in files.items():
        file.write_text("".join(json.dumps(row) + "\n" for row in rows[name]))
    return files


def train_all(
    services: Services,
    folder: Path,
    cases: Mapping[str, Mapping[str, Any]],
    behind: Mapping[str, list[str]] | None = None,
) -> dict[str, Outcome]:
    """Train the tiny model as each of ``cases`` says, with the words of the product's own plans.

    ``behind``: name of a case -> words put behind its plan's, where no check of ours looks.
    """
    files = write_rows(folder)
    (folder / "letters.py").write_text(REWARD)
    jobs, outcomes = [], {}
    for name, case in cases.items():
        run = folder / "trained" / name
        run.mkdir(parents=True)
        flat = {"model": "starter", **SHORT, **case}
        spec = train_spec(flat)
        learns = method_of(spec.command, spec.args).learns
        plan = services.trainings.prepare(train_spec({"dataset": [str(files[learns])], **flat})).plan
        filled = plan.filled({"run": str(run), "id": name, "port": "0", "devices": ""})
        argv = [*filled.argv[4:], *(behind or {}).get(name, [])]
        jobs.append({"argv": argv, "log": str(run / "log.txt")})
    child = subprocess.run(
        [sys.executable, "-P", str(HERE / "train_here.py")], input=json.dumps(jobs), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr[-4000:]
    for (name, job), answer in zip(zip(cases, jobs, strict=True), json.loads(child.stdout), strict=True):
        log = Path(job["log"])
        outcomes[name] = Outcome(
            name, answer.get("logs", []), answer.get("error", ""), log.parent / "output", log, answer.get("rates", [])
        )
    return outcomes
