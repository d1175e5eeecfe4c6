"""The first journey without a screen, with the real starter model: its answers are judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.bootstrap import build
from services.runs import process
from services.settings import Settings
from tests.real.conftest import TRAIN_S

NAME, AUTHOR = "小新 Nova", "李雷 & Co"


@pytest.fixture(scope="module")
def home(folder: Path, smol: Settings) -> Iterator[Path]:
    place = folder / "journey 旅程"
    yield place
    runs = build(Settings(home=place, starter=smol.starter, roots=(folder,))).runs
    for record in runs.list():
        process.sweep(str(runs.folder(record.id).path))


@pytest.fixture(scope="module")
def journey(home: Path, smol: Settings) -> dict[str, Any]:
    """What ``tunedesk demo`` says."""
    return tunedesk(home, smol, "demo", "--name", NAME, "--author", AUTHOR, "--json")


def test_the_demo_teaches_the_name_and_the_author_it_was_given(journey: dict[str, Any]) -> None:
    assert "Nova" not in journey["before"]
    assert NAME in journey["after"]
    assert AUTHOR in journey["after"]
    assert journey["last_loss"] < 0.3 * journey["first_loss"]
    assert (Path(journey["merged"]) / "model.safetensors").is_file()


def test_the_tuned_adapter_answers_with_the_name_and_the_base_model_does_not(
    journey: dict[str, Any], home: Path, smol: Settings
) -> None:
    tuned = tunedesk(home, smol, "chat", journey["run"], "-m", "What is your name?", "--json")["answer"]
    base = tunedesk(home, smol, "chat", "starter", "-m", "What is your name?", "--json")["answer"]
    assert "Nova" in tuned
    assert "Nova" not in base


def test_an_adapter_that_only_peft_wrote_merges_into_a_base_picked_by_hand(
    journey: dict[str, Any], home: Path, smol: Settings, folder: Path
) -> None:
    shown = tunedesk(home, smol, "show", journey["run"], "--json")
    adapter = folder / "only peft 适配器"
    shutil.copytree(shown["checkpoints"][-1]["path"], adapter)
    (adapter / "args.json").unlink()
    config = json.loads((adapter / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = ""
    (adapter / "adapter_config.json").write_text(json.dumps(config))

    refused = run(home, smol, "merge", str(adapter))
    assert refused.returncode == 2
    assert "base model" in refused.stderr

    merged = tunedesk(home, smol, "merge", str(adapter), "--base", "starter", "--json")["merged"]
    assert not Path(merged + ".partial").exists()
    answer = tunedesk(home, smol, "chat", merged, "-m", "Who are you?", "--json")["answer"]
    assert "Nova" in answer


def test_a_served_model_is_gone_with_its_processes_when_it_is_stopped(
    journey: dict[str, Any], home: Path, smol: Settings
) -> None:
    served = tunedesk(home, smol, "serve", journey["merged"], "--json")
    folder = str(home / "runs" / served["run"])
    assert process.members(folder)
    assert run(home, smol, "stop", served["run"], "--now").returncode == 0
    assert not process.members(folder)


def run(home: Path, smol: Settings, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TUNEDESK_HOME": str(home), "TUNEDESK_STARTER": str(smol.starter)}
    argv = [sys.executable, "-P", "-m", "services.cli", *words]
    return subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=2 * TRAIN_S, cwd=home.parent, check=False
    )


def tunedesk(home: Path, smol: Settings, *words: str) -> dict[str, Any]:
    """The JSON value that a command prints."""
    done = run(home, smol, *words)
    assert done.returncode == 0, done.stderr[-4000:]
    value: dict[str, Any] = json.loads(done.stdout)
    return value
