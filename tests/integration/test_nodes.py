"""Runs on several nodes, all of them this machine, with real keepers and pipes; only SSH and ms-swift are left out."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from services.bootstrap import Services
from services.errors import Refused
from services.runs import process
from services.runs.folder import RunState
from services.specs import TrainSpec, as_yaml
from services.target_specs import Ssh
from services.targets.states import node_states
from services.text import explain
from tests.conftest import Watch

TIMEOUT_S = 8.0


def start_on_two(services: Services, **asked: Any) -> Watch:
    target = Ssh(kind="ssh", nodes=("here name=A", "localhost name=B"), node_timeout_s=TIMEOUT_S)
    return start_with(services, TrainSpec(processes=1, env={"STAND_IN": json.dumps(asked)}, target=target))


def start_with(services: Services, spec: TrainSpec) -> Watch:
    prepared = services.trainings.prepare(spec)
    record = services.runs.start(prepared.plan, name="run", spec=as_yaml(prepared.spec.flat()), grace_s=20)
    return Watch(services.runs, record.id)


def of_run(run: Watch, rank: int | None = None) -> list[psutil.Process]:
    """The processes of the ranks on one node, or on both."""
    ranks = (0, 1) if rank is None else (rank,)
    return [one for number in ranks for one in process.members(mark=f"{run.folder.path}@{number}")]


def keepers(run: Watch) -> list[psutil.Process]:
    """The nodes' keepers, the first node's first."""
    child = run.folder.read().child
    assert child is not None
    found = [one for one in psutil.Process(child.pid).children() if "services.targets.node" in one.cmdline()]
    return sorted(found, key=lambda one: one.create_time())


def until(what: Callable[[], object], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def expect_gone(run: Watch, within_s: float = 5) -> None:
    until(lambda: not of_run(run), within_s)
    run.expect_gone([])


def test_a_run_on_two_nodes_goes_through_and_keeps_what_each_of_them_said(services: Services) -> None:
    run = start_on_two(services, steps=4)
    record = run.ended(within_s=40)
    snapshot = services.runs.snapshot(run.id)
    assert (record.state, record.exit_code) == (RunState.SUCCEEDED, 0), run.log()
    assert snapshot.step == 4 and snapshot.checkpoints[-1].step == 4
    assert "[INFO:swift] output_dir" in (run.folder.attempt(1) / "node-1.log").read_text()
    assert "[node B]" not in run.log() and "[tunedesk] node B: NNODES=2 NODE_RANK=1" in run.log()
    assert [one["state"] for one in node_states(run.folder, 1)] == ["ended", "ended"]
    env = [json.loads((run.folder.path / "rank-0.json").read_text())["env"]]
    assert env[0]["NNODES"] == "2" and env[0]["TUNEDESK_NODES"] == "2" and env[0]["MASTER_PORT"].isdigit()
    expect_gone(run)


def test_stop_reaches_the_first_node_which_saves(services: Services) -> None:
    run = start_on_two(services, steps=10_000)
    run.step(5, within_s=40)
    services.runs.stop(run.id)
    # the stand-in's second node hears nothing of the first one's step, so it ends by force after the grace
    until(run.folder.stop_listener.exists, 5)
    until(lambda: services.runs.snapshot(run.id).checkpoints, 10)
    services.runs.stop(run.id, now=True)
    assert run.ended(within_s=10).state is RunState.STOPPED
    expect_gone(run)


def test_stop_now_ends_both_nodes_at_once(services: Services) -> None:
    run = start_on_two(services, steps=10_000, deaf=True, strays=1)
    run.step(2, within_s=40)
    services.runs.stop(run.id, now=True)
    assert run.ended(within_s=10).state is RunState.STOPPED
    expect_gone(run)


def test_a_node_whose_keeper_is_killed_is_lost_by_name_and_the_other_ends(services: Services) -> None:
    run = start_on_two(services, steps=10_000)
    run.step(2, within_s=40)
    keepers(run)[1].kill()
    record = run.ended(within_s=TIMEOUT_S + 4)
    assert record.state is RunState.FAILED and record.error is not None
    assert (record.error["code"], record.error["values"]["what"]) == ("node_lost", "B")
    assert [one["state"] for one in node_states(run.folder, 1)] == ["failed", "lost"]
    expect_gone(run)


def test_a_node_that_falls_silent_is_lost_within_the_timeout_and_ends_its_ranks_itself(services: Services) -> None:
    run = start_on_two(services, steps=10_000)
    run.step(2, within_s=40)
    silent = keepers(run)[1]
    silent.send_signal(signal.SIGSTOP)
    record = run.ended(within_s=TIMEOUT_S)
    assert record.error is not None and record.error["values"]["what"] == "B", record
    expect_gone(run)


def test_nodes_end_by_themselves_when_the_lead_is_killed(services: Services) -> None:
    run = start_on_two(services, steps=10_000)
    run.step(2, within_s=40)
    record = run.folder.read()
    assert record.child is not None and record.keeper is not None and of_run(run, 1)
    os.kill(record.keeper.pid, signal.SIGKILL)
    os.kill(record.child.pid, signal.SIGKILL)
    until(lambda: not of_run(run), TIMEOUT_S)


def test_an_error_on_another_node_is_the_run_s_error(services: Services) -> None:
    run = start_on_two(services, error="ModuleNotFoundError: No module named 'apex'")
    record = run.ended(within_s=40)
    assert record.error is not None
    assert (record.error["code"], record.error["values"]["what"]) == ("module_missing", "apex")
    expect_gone(run)


# going on by itself


def with_restarts(number: int, **asked: Any) -> TrainSpec:
    error = {"error": "RuntimeError: a cosmic ray", "error_at": 4, **asked}
    args = {"save_steps": 3}
    return TrainSpec(processes=1, env={"STAND_IN": json.dumps(error)}, args=args, max_restarts=number)


def test_a_failed_run_goes_on_by_itself_from_its_last_checkpoint_as_a_new_attempt(services: Services) -> None:
    run = start_with(services, with_restarts(2, steps=6, once=True))
    record = run.ended(within_s=40)
    assert (record.state, record.attempt) == (RunState.SUCCEEDED, 2)
    assert [(one["attempt"], one["error"]["code"]) for one in record.failures] == [(1, "trainer_error")]
    argv = run.folder.read_plan(2).argv
    assert argv[argv.index("--resume_from_checkpoint") + 1].endswith("checkpoint-3")
    assert [step for step, _ in services.runs.snapshot(run.id).series("loss")] == [1, 2, 3, 4, 5, 6]


def test_it_goes_on_only_so_often(services: Services) -> None:
    run = start_with(services, with_restarts(1, steps=6))
    record = run.ended(within_s=40)
    assert (record.state, record.attempt, len(record.failures)) == (RunState.FAILED, 2, 1)


def test_a_stop_ends_the_going_on(services: Services) -> None:
    run = start_with(services, with_restarts(100, steps=6))
    until(lambda: run.folder.read().attempt > 1, 40)
    services.runs.stop(run.id)
    assert run.ended(within_s=20).state in (RunState.STOPPED, RunState.FAILED)
    assert run.folder.read().attempt < 100


@pytest.mark.parametrize("restarts", [0])
def test_without_being_asked_no_run_goes_on(services: Services, restarts: int) -> None:
    record = start_with(services, with_restarts(restarts, steps=6)).ended(within_s=40)
    assert (record.state, record.attempt) == (RunState.FAILED, 1)


# the check


def test_nodes_are_asked_and_each_answers_for_itself(services: Services) -> None:
    target = Ssh(kind="ssh", nodes=("here name=A", "localhost name=B python=/no/such/python"))
    first, second = services.trainings.nodes(TrainSpec(target=target))
    assert first.fit and first.facts["cores"] >= 1 and first.facts["shared"]
    assert [str(problem) for problem in second.problems] == ["targets.problem.no_python"]


def test_a_run_with_an_unfit_node_does_not_start(services: Services) -> None:
    target = Ssh(kind="ssh", nodes=("here name=A", "localhost name=B python=/no/such/python"))
    with pytest.raises(Refused) as caught:
        services.trainings.start(TrainSpec(target=target))
    assert caught.value.code == "nodes_unfit" and services.runs.list() == []
    lines = explain(caught.value, "en").splitlines()
    assert lines[1].startswith("A: ready") and lines[2].startswith("B: there is no such interpreter")


def test_a_run_here_has_no_nodes_to_ask(services: Services) -> None:
    assert services.trainings.nodes(TrainSpec()) == []
