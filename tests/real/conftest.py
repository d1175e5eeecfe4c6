"""The real ms-swift, over a tiny model unless an answer is judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.bootstrap import Services, build
from services.models import starter
from services.runs import process
from services.runs.folder import Record, RunState
from services.settings import Settings, read_settings
from services.specs import TrainSpec
from tests.trainable_model import make_trainable_model

TRAIN_S = 300
ROWS = 64


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a space and Chinese in its name."""
    return tmp_path_factory.mktemp("真 real")


@pytest.fixture(scope="module")
def services(folder: Path) -> Iterator[Services]:
    """The real services; the tiny model is the starter."""
    settings = Settings(home=folder / "home 家", starter=make_trainable_model(folder / "tiny"), roots=(folder,))
    made = build(settings)
    yield made
    for record in made.runs.list():
        made.runs.stop(record.id, now=True)
        process.sweep(str(made.runs.folder(record.id).path))


@pytest.fixture(scope="module")
def rows(folder: Path) -> Path:
    """Rows that differ, so that two ranks see different data."""
    path = folder / "rows, 行.jsonl"
    turns = [
        [{"role": "user", "content": f"Number {n}?"}, {"role": "assistant", "content": f"It is {n * n} and {n}."}]
        for n in range(ROWS)
    ]
    path.write_text("".join(json.dumps({"messages": turn}) + "\n" for turn in turns))
    return path


@pytest.fixture(scope="session")
def smol() -> Settings:
    """The settings with the real starter model; prepared by `make install`, else now."""
    settings = read_settings()
    starter.prepare(settings, print)
    return settings


def short_spec(rows: Path, **fields: object) -> TrainSpec:
    """Eight steps of four rows without dropout."""
    args: dict[str, object] = {
        "max_steps": 8, "per_device_train_batch_size": 4, "learning_rate": 1e-3, "max_length": 64, "lora_dropout": 0.0,
        "logging_steps": 1,
    }  # fmt: skip
    args |= fields.pop("args", {})  # type: ignore[call-overload]
    return TrainSpec(dataset=(str(rows),), args=args, **fields)  # type: ignore[arg-type]


def finished(services: Services, record: Record) -> Record:
    """The run at its end; its log is shown where it did not succeed."""
    ended = services.runs.wait(record.id, timeout_s=TRAIN_S)
    if ended.state is not RunState.SUCCEEDED:
        print(services.runs.snapshot(record.id).log_tail[-6000:])
    return ended


def losses(services: Services, record: Record) -> list[float]:
    """The loss of each step."""
    return [value for _, value in services.runs.snapshot(record.id).series("loss")]
