"""Two real ranks on this CPU, as the plans start them."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from services.bootstrap import Services
from services.runs import process
from services.runs.folder import RunState
from tests.real.conftest import finished, losses, short_spec

LONG = {"max_steps": 100_000, "save_steps": 50_000}


def test_two_ranks_average_their_gradients_like_one_process_with_the_summed_batch(
    services: Services, rows: Path
) -> None:
    two = services.trainings.start(
        short_spec(rows, name="two", strategy="ddp", processes=2, args={"per_device_train_batch_size": 2})
    )
    assert finished(services, two).state is RunState.SUCCEEDED
    one = services.trainings.start(short_spec(rows, name="one"))
    assert finished(services, one).state is RunState.SUCCEEDED
    assert len(losses(services, two)) == 8
    assert losses(services, two) == pytest.approx(losses(services, one), rel=1e-3)


@pytest.mark.parametrize("strategy", ["zero2", "fsdp2"])
def test_two_ranks_train_with(strategy: str, services: Services, rows: Path) -> None:
    if strategy == "zero2" and not shutil.which("g++"):
        pytest.fail("ZeRO-2 compiles a small part of DeepSpeed: install g++ and run the tests again")
    record = services.trainings.start(short_spec(rows, name=strategy, strategy=strategy, processes=2))
    ended = finished(services, record)
    snapshot = services.runs.snapshot(record.id)
    assert ended.state is RunState.SUCCEEDED
    assert snapshot.checkpoints[-1].step == 8
    assert losses(services, record)[-1] < losses(services, record)[0]


@pytest.mark.parametrize("strategy", ["ddp", "zero2", "fsdp2"])
def test_a_stopped_run_of_two_ranks_saves_and_resumes_at_the_next_step(
    strategy: str, services: Services, rows: Path
) -> None:
    spec = short_spec(rows, name=f"stopped-{strategy}", strategy=strategy, processes=2, args=LONG)
    record = services.trainings.start(spec)
    _wait_for_step(services, record.id, 5)
    services.runs.stop(record.id)
    time.sleep(0.5)
    assert services.runs.folder(record.id).read().state is RunState.STOPPING
    ended = services.runs.wait(record.id, timeout_s=45)
    assert ended.state is RunState.STOPPED
    assert not process.members(str(services.runs.folder(record.id).path))
    saved = services.runs.snapshot(record.id).checkpoints[-1].step
    assert saved >= 5

    services.trainings.resume(record.id)
    _wait_for_step(services, record.id, saved + 3)
    again = services.runs.snapshot(record.id)
    services.runs.stop(record.id, now=True)
    began = time.monotonic()
    assert services.runs.wait(record.id, timeout_s=10).state is RunState.STOPPED
    assert time.monotonic() - began < 5
    assert not process.members(str(services.runs.folder(record.id).path))
    steps = [step for step, _ in again.series("loss")]
    assert steps == sorted(set(steps))
    assert saved + 1 in steps
    assert again.record.attempt == 2


def test_a_run_that_is_stopped_while_it_loads_is_gone_within_fifteen_seconds(services: Services, rows: Path) -> None:
    record = services.trainings.start(short_spec(rows, name="loading", strategy="ddp", processes=2, args=LONG))
    while len(process.members(str(services.runs.folder(record.id).path))) < 4:  # swift, torchrun and two ranks
        time.sleep(0.1)
    services.runs.stop(record.id)
    assert services.runs.wait(record.id, timeout_s=15).state is RunState.STOPPED
    assert not process.members(str(services.runs.folder(record.id).path))


def _wait_for_step(services: Services, run_id: str, step: int, timeout_s: float = 240) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        snapshot = services.runs.snapshot(run_id)
        newest = snapshot.series("loss")
        if newest and newest[-1][0] >= step and snapshot.record.state is RunState.RUNNING:
            return
        if snapshot.record.state.final:
            pytest.fail(f"{snapshot.record.state}: {snapshot.log_tail[-4000:]}")
        time.sleep(0.1)
    pytest.fail(services.runs.snapshot(run_id).log_tail[-4000:])
