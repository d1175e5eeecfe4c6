"""A run as a Slurm job, on a Slurm of its own on this machine: it trains, stops with a save, and resumes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.slurm_here import slurm_here, why_not
from tests.cluster.steps import step_in
from tests.trainable_model import make_trainable_model

START_S = 120


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tunedesk-slurm-") as made:  # slurm.conf takes no blank in a path
        yield Path(made)


@pytest.fixture(scope="module")
def environment(folder: Path) -> Iterator[dict[str, str]]:
    if reason := why_not():
        pytest.fail(reason)
    with slurm_here(folder / "slurm") as variables:
        yield {**os.environ, **variables, "TUNEDESK_HOME": str(folder / "home 家")}


@pytest.fixture(scope="module")
def spec(folder: Path) -> Path:
    make_trainable_model(folder / "tiny")
    row = {"messages": [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me, it's me."}]}
    (folder / "rows.jsonl").write_text((json.dumps(row) + "\n") * 64)
    value = {
        "name": "job", "model": str(folder / "tiny"), "dataset": str(folder / "rows.jsonl"), "model_type": "llama",
        "template": "chatml", "max_steps": 100_000, "save_steps": 50_000, "logging_steps": 1, "max_length": 64,
        "target": {"kind": "slurm", "partition": "main", "time": "10:00"},
    }  # fmt: skip
    (folder / "spec.yaml").write_text(json.dumps(value))
    return folder / "spec.yaml"


def tunedesk(environment: dict[str, str], *words: str) -> str:
    argv = [sys.executable, "-P", "-m", "services.cli", *words]
    done = subprocess.run(argv, env=environment, text=True, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def show(environment: dict[str, str]) -> dict[str, Any]:
    return dict(json.loads(tunedesk(environment, "show", "job", "--json")))


def until(environment: dict[str, str], what: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    deadline = time.monotonic() + START_S
    while not what(shown := show(environment)):
        assert shown["state"] in ("queued", "starting", "running"), shown["log_tail"]
        assert time.monotonic() < deadline, shown["log_tail"]
        time.sleep(0.5)
    return shown


def jobs(environment: dict[str, str]) -> str:
    return subprocess.run(["squeue", "-h"], env=environment, text=True, capture_output=True, check=True).stdout


def test_a_slurm_job_trains_and_shows_in_the_same_view(environment: dict[str, str], spec: Path) -> None:
    tunedesk(environment, "train", str(spec), "--detach")
    shown = until(environment, lambda one: (one["step"] or 0) >= 10)
    assert [item for item in shown["metrics"] if item["name"] == "loss"]
    assert jobs(environment).strip()
    log = (Path(shown["folder"]) / "attempts/1/output.log").read_text(errors="replace")
    assert "Slurm job 1 submitted" in log and "Slurm job 1 is RUNNING" in log


def test_stop_saves_and_leaves_no_job(environment: dict[str, str]) -> None:
    before = show(environment)["step"]
    tunedesk(environment, "stop", "job")
    shown = show(environment)
    assert shown["state"] == "stopped" and shown["checkpoints"][-1]["step"] >= before, shown["log_tail"]
    assert not jobs(environment).strip()


def test_it_resumes_as_a_new_job_which_stop_now_cancels(environment: dict[str, str]) -> None:
    saved = show(environment)["checkpoints"][-1]["step"]
    tunedesk(environment, "resume", "job", "--detach")
    until(environment, lambda one: step_in(one["log_tail"]) > saved)
    tunedesk(environment, "stop", "job", "--now")
    shown = show(environment)
    assert shown["state"] == "stopped" and shown["attempts"] == 2
    deadline = time.monotonic() + 15
    while jobs(environment).strip():
        assert time.monotonic() < deadline, jobs(environment)
        time.sleep(0.3)


def test_slurm_s_own_words_are_shown_when_it_refuses_a_job(environment: dict[str, str], spec: Path) -> None:
    value = {**json.loads(spec.read_text()), "name": "job", "target": {"kind": "slurm", "partition": "nowhere"}}
    refused = spec.with_name("refused.yaml")
    refused.write_text(json.dumps(value))
    tunedesk(environment, "train", str(refused), "--detach")
    deadline = time.monotonic() + 60
    while (shown := dict(json.loads(tunedesk(environment, "show", "job-2", "--json"))))["state"] != "failed":
        assert time.monotonic() < deadline, shown
        time.sleep(0.3)
    assert "invalid partition" in shown["log_tail"]
