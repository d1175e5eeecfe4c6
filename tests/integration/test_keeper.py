"""Runs with real keepers and real process trees; only ms-swift is played by a stand-in."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.bootstrap import Services
from services.chat import loaded, server
from services.errors import Failed, Refused
from services.runs import process
from services.runs.folder import Record, RunState
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.text import explain
from tests.conftest import Watch, start

AWKWARD = [
    "'; touch x; #",
    "$(touch x)",
    "`touch x`",
    "two\nlines",
    "--leading dashes",
    "你好，世界",
    "{run} {port} {id}",
    'a "quote" \\ and % $HOME',
]


# living


def test_a_run_goes_through_to_success(services: Services) -> None:
    run = start(services, steps=4)
    record = run.ended()
    snapshot = services.runs.snapshot(run.id)
    assert (record.state, record.exit_code, record.error) == (RunState.SUCCEEDED, 0, None)
    assert (snapshot.step, snapshot.total_steps, snapshot.fraction) == (4, 4, 1.0)
    assert snapshot.series("loss") == [(1, 4.0), (2, 2.0), (3, 4 / 3), (4, 1.0)]
    assert snapshot.checkpoints[-1].step == 4
    run.expect_gone([])


def test_a_run_survives_the_kill_of_its_starter_and_of_all_its_group(services: Services, tmp_path: Path) -> None:
    plan = services.trainings.prepare(TrainSpec(env={"STAND_IN": json.dumps({"steps": 8, "step_s": 0.1})})).plan
    (tmp_path / "plan.json").write_text(json.dumps(plan.as_json()))
    code = """if True:
        import json, pathlib, sys, time
        from services.plan import plan_from_json
        from services.runs.lifecycle import Runs
        plan = plan_from_json(json.loads(pathlib.Path(sys.argv[1]).read_text()))
        print(Runs(pathlib.Path(sys.argv[2])).start(plan, name="orphan", spec="").id, flush=True)
        time.sleep(60)
    """
    argv = [sys.executable, "-c", code, str(tmp_path / "plan.json"), str(services.runs.root)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as starter:
        assert starter.stdout is not None
        run = Watch(services.runs, starter.stdout.readline().strip())
        os.killpg(starter.pid, signal.SIGKILL)
    assert run.ended().state is RunState.SUCCEEDED


def test_the_same_request_twice_is_one_run(services: Services) -> None:
    first = start(services, request_id="click-1")
    again = start(services, request_id="click-1")
    other = start(services, request_id="click-2")
    assert first.id == again.id != other.id
    assert len(services.runs.list()) == 2


def test_two_runs_at_once_get_different_ports(services: Services) -> None:
    found = [start(services, processes=2, steps=30) for _ in range(3)]
    records = [run.until(RunState.RUNNING) for run in found]
    assert len({record.port for record in records}) == 3
    for run, record in zip(found, records, strict=True):
        run.step(1)
        rank = json.loads((run.folder.path / "rank-0.json").read_text())
        assert rank["env"]["MASTER_PORT"] == str(record.port)


def test_a_megabyte_of_errors_does_not_block_a_run(services: Services) -> None:
    run = start(services, noise_mb=2)
    assert run.ended().state is RunState.SUCCEEDED
    assert run.folder.log(1).stat().st_size > 2_000_000
    assert len(services.runs.snapshot(run.id).log_tail) <= 64 * 1024


def test_what_a_run_leaves_behind_in_sessions_of_its_own_is_swept(services: Services) -> None:
    run = start(services, strays=2, steps=10)
    run.step(2)
    tree = run.processes()
    assert run.ended().state is RunState.SUCCEEDED
    run.expect_gone(tree)


def test_figures_that_are_no_numbers_are_read_as_such(services: Services) -> None:
    run = start(services, metrics='"grad_norm": NaN, "token_acc": -Infinity')
    assert run.ended().state is RunState.SUCCEEDED
    grad_norms = [value for _, value in services.runs.snapshot(run.id).series("grad_norm")]
    assert len(grad_norms) == 3 and all(map(math.isnan, grad_norms))


@pytest.mark.parametrize("text", AWKWARD)
def test_what_a_person_typed_reaches_the_trainer_literally(services: Services, text: str) -> None:
    spec = TrainSpec(
        name=text, model_name=text, model_author=text, args={"system": text, "run_name": text},
        env={"NOTE": text, "STAND_IN": json.dumps({"steps": 1})},
    )  # fmt: skip
    run = Watch(services.runs, services.trainings.start(spec).id)
    assert run.ended().state is RunState.SUCCEEDED, run.log()
    rank = json.loads((run.folder.path / "rank-0.json").read_text())
    assert rank["cwd"] == str(run.folder.path)
    assert rank["env"]["NOTE"] == text
    for name in ("system", "run_name"):
        dashed = f"--{name}={text}" in rank["argv"]
        assert dashed or rank["argv"][rank["argv"].index(f"--{name}") + 1] == text
    sample = (run.folder.path / "sample.jsonl").read_text("utf-8")
    assert any(
        text in message["content"] for row in map(json.loads, sample.splitlines()) for message in row["messages"]
    )
    assert services.trainings.spec_of(run.id) == spec.model_copy(update={"name": text.strip()})
    assert services.runs.find(text.strip()).id == run.id
    assert not (run.folder.path / "x").exists()


# waiting


def test_with_one_slot_the_runs_go_one_after_the_other_past_a_failed_one(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNEDESK_CPU_SLOTS", "1")
    first = start(services, steps=20)
    first.until(RunState.RUNNING)
    second = start(services, error="ValueError: broken")
    second.until(RunState.QUEUED)
    third = start(services)
    assert third.folder.read().state is RunState.QUEUED
    assert second.ended().state is RunState.FAILED
    assert third.ended().state is RunState.SUCCEEDED
    records = [run.folder.read() for run in (first, second, third)]
    starts, ends = [record.started or 0 for record in records], [record.ended or 0 for record in records]
    assert starts[0] < ends[0] < starts[1] < ends[1] < starts[2]


def test_a_run_that_need_not_wait_does_not(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEDESK_CPU_SLOTS", "1")
    start(services, steps=500).until(RunState.RUNNING)
    record = services.trainings.start(TrainSpec(env={"STAND_IN": "{}"}), now=True)
    assert Watch(services.runs, record.id).ended().state is RunState.SUCCEEDED


def test_a_run_can_be_stopped_while_it_waits(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNEDESK_CPU_SLOTS", "1")
    start(services, steps=500).until(RunState.RUNNING)
    waiting = start(services)
    services.runs.stop(waiting.id)
    record = waiting.ended(within_s=3)
    assert (record.state, record.started) == (RunState.STOPPED, None)


# stopping


def test_a_stop_shows_at_once_saves_and_leaves_nothing(services: Services) -> None:
    run = start(services, processes=2, steps=1000, save_s=0.7, strays=1)
    run.step(3)
    tree = run.processes()
    assert len(tree) >= 5  # swift, torchrun, two ranks, a stray
    services.runs.stop(run.id)
    run.until(RunState.STOPPING, within_s=0.5)
    assert 28 < (services.runs.snapshot(run.id).stopping_left_s or 0) <= 30
    record = run.ended(within_s=8)
    assert (record.state, record.exit_code) == (RunState.STOPPED, 0)
    run.expect_gone(tree)
    snapshot = services.runs.snapshot(run.id)
    assert snapshot.step is not None and 3 <= snapshot.step < 1000
    assert snapshot.checkpoints[-1].step == snapshot.step


def test_a_tree_that_ignores_the_stop_is_gone_after_the_grace(services: Services) -> None:
    run = start(services, processes=2, steps=10_000, deaf=True, strays=1, grace_s=1)
    run.step(2)
    tree = run.processes()
    began = time.monotonic()
    services.runs.stop(run.id)
    record = run.ended(within_s=6)
    run.expect_gone(tree, within_s=6 - (time.monotonic() - began))
    assert (record.state, record.exit_code) == (RunState.STOPPED, -signal.SIGKILL)
    assert time.monotonic() - began > 1


def test_stop_now_needs_no_grace(services: Services) -> None:
    run = start(services, processes=2, steps=10_000, deaf=True)
    run.step(2)
    tree = run.processes()
    services.runs.stop(run.id, now=True)
    assert run.ended(within_s=5).state is RunState.STOPPED
    run.expect_gone(tree, within_s=1)


def test_stop_now_cuts_a_grace_short(services: Services) -> None:
    run = start(services, steps=10_000, deaf=True, grace_s=60)
    run.step(2)
    services.runs.stop(run.id)
    run.until(RunState.STOPPING)
    services.runs.stop(run.id, now=True)
    assert run.ended(within_s=5).state is RunState.STOPPED


@pytest.mark.parametrize("asked", [{"launch_s": 60}, {"load_s": 60}], ids=["before there is a rank", "while it loads"])
def test_a_stop_before_training_began_waits_for_nothing(services: Services, asked: dict[str, Any]) -> None:
    run = start(services, processes=2, **asked)
    run.until(RunState.RUNNING)
    deadline = time.monotonic() + 10
    while len(run.processes()) < (1 if "launch_s" in asked else 4):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    tree = run.processes()
    services.runs.stop(run.id)
    assert run.ended(within_s=5).state is RunState.STOPPED
    run.expect_gone(tree)


def test_a_stop_after_the_last_step_is_a_success(services: Services) -> None:
    run = start(services, linger_s=60, grace_s=1)
    run.step(3)
    time.sleep(0.3)  # until the closing summary is written
    services.runs.stop(run.id)
    assert run.ended(within_s=10).state is RunState.SUCCEEDED


def test_a_keeper_that_is_asked_to_end_stops_its_run_in_order(services: Services) -> None:
    run = start(services, steps=1000)
    run.step(2)
    keeper = run.folder.read().keeper
    assert keeper is not None
    os.kill(keeper.pid, signal.SIGTERM)
    assert run.ended(within_s=8).state is RunState.STOPPED
    assert services.runs.snapshot(run.id).checkpoints


@pytest.mark.parametrize("waiting", [False, True], ids=["running", "waiting"])
def test_a_run_whose_folder_is_deleted_under_it_ends_with_all_its_processes(
    services: Services, monkeypatch: pytest.MonkeyPatch, waiting: bool
) -> None:
    run = start(services, processes=2, steps=10_000, strays=1)
    run.step(2)
    if waiting:
        monkeypatch.setenv("TUNEDESK_CPU_SLOTS", "1")
        run = start(services)
        run.until(RunState.QUEUED)
    tree, keeper = run.processes(), run.folder.read().keeper
    while keeper is None:
        keeper = run.folder.read().keeper
    shutil.rmtree(run.folder.path, ignore_errors=True)
    run.expect_gone(tree, within_s=8)
    deadline = time.monotonic() + 5
    while keeper.alive():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert run.id not in [record.id for record in services.runs.list()]


# failing


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("ValueError: remaining_argv: ['--learning_rat', '1']", "argument_rejected"),
        ("OSError: [Errno 98] Address already in use", "port_taken"),
        ("OSError: [Errno 28] No space left on device", "disk_full"),
        ("ValueError: the tokenizer is upset", "trainer_error"),
    ],
)
def test_a_crash_at_once_is_told_within_two_seconds(services: Services, error: str, code: str) -> None:
    run = start(services, error=error, processes=2)
    deadline = time.monotonic() + 10
    while not (run.folder.log(1).exists() and "ChildFailedError" in run.log()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    record = run.ended(within_s=2)
    assert (record.state, record.exit_code) == (RunState.FAILED, 1)
    assert record.error is not None and (record.error["code"], record.error["line"]) == (code, error)


def test_a_crash_in_mid_run_is_a_failure_although_the_trainer_wrote_its_summary(services: Services) -> None:
    run = start(services, steps=10, error_at=4, error="RuntimeError: DefaultCPUAllocator: can't allocate memory")
    record = run.ended()
    assert record.state is RunState.FAILED and record.error is not None
    assert record.error["code"] == "out_of_memory"


def test_a_crash_after_the_last_step_is_a_success_with_a_warning(services: Services) -> None:
    record = start(services, exit_code=1).ended()
    assert (record.state, record.warning, record.exit_code) == (RunState.SUCCEEDED, "teardown_failed", 1)


def test_an_end_without_a_single_step_is_no_success(services: Services) -> None:
    record = start(services, steps=0).ended()
    assert (record.state, record.exit_code) == (RunState.FAILED, 0)
    assert record.error is not None and record.error["code"] == "nothing_trained"


def test_an_interpreter_that_is_not_there_is_a_failure_with_a_reason(services: Services, stand_in: str) -> None:
    Path(stand_in).unlink()
    record = start(services).ended()
    assert record.state is RunState.FAILED and record.error is not None
    assert record.error["code"] == "cannot_start" and stand_in in record.error["values"]["what"]


# being lost, and going on


def test_a_run_whose_keeper_was_killed_is_lost_and_stop_sweeps_it(services: Services) -> None:
    run = start(services, processes=2, steps=10_000)
    run.step(2)
    run.kill_keeper()
    assert run.folder.read().state is RunState.LOST
    tree = run.processes()
    assert tree
    services.runs.stop(run.id)
    run.expect_gone(tree)
    assert run.folder.read().state is RunState.LOST


def test_a_lost_run_resumes_as_its_second_attempt_and_draws_one_chart(services: Services) -> None:
    run = start(services, steps=12, step_s=0.15)  # a checkpoint every 2 steps
    run.step(5)
    run.kill_keeper()
    before = services.runs.snapshot(run.id)
    resumed = services.trainings.resume(run.id)
    assert (resumed.id, resumed.attempt) == (run.id, 2)
    assert run.ended().state is RunState.SUCCEEDED
    plan = run.folder.read_plan(2)
    checkpoint = plan.argv[plan.argv.index("--resume_from_checkpoint") + 1]
    assert checkpoint == str(before.checkpoints[-1].path)
    steps = [step for step, _ in services.runs.snapshot(run.id).series("loss")]
    assert steps == list(range(1, 13))
    assert len(list(Path(run.folder.read().output_dir).glob("v*-*"))) == 2


def test_a_stopped_run_resumes_where_it_was_stopped(services: Services) -> None:
    run = start(services, steps=40, step_s=0.05)
    run.step(3)
    services.runs.stop(run.id)
    assert run.ended().state is RunState.STOPPED
    saved = services.runs.snapshot(run.id).checkpoints[-1].step
    services.trainings.resume(run.id)
    run.until(RunState.RUNNING)
    run.step(saved + 1)
    services.runs.stop(run.id, now=True)
    assert run.ended().state is RunState.STOPPED
    rank = json.loads((run.folder.path / "rank-0.json").read_text())
    assert f"checkpoint-{saved}" in " ".join(rank["argv"])


def test_a_run_that_is_not_over_neither_resumes_nor_goes_away(services: Services) -> None:
    run = start(services, steps=1000)
    run.step(1)
    for action in (services.trainings.resume, services.runs.delete):
        with pytest.raises(Refused, match="still_running"):
            action(run.id)
    assert run.folder.read().state is RunState.RUNNING


def test_a_run_that_did_all_its_steps_has_nothing_left(services: Services) -> None:
    run = start(services)
    run.ended()
    with pytest.raises(Refused, match="nothing_left"):
        services.trainings.resume(run.id)


def test_resume_and_delete_of_a_lost_run_leave_no_process_of_it(services: Services) -> None:
    run = start(services, steps=10_000)
    run.step(1)
    run.kill_keeper()
    tree = run.processes()
    assert services.runs.delete(run.id) > 0
    run.expect_gone(tree)
    assert services.runs.list() == []


# merging and serving


def test_a_merge_of_a_run_ends_with_a_folder_of_its_own(services: Services) -> None:
    run = start(services)
    run.ended()
    first, second = (services.merges.start(MergeSpec(adapter=run.id)) for _ in range(2))
    for record in (first, second):
        assert Watch(services.runs, record.id).ended().state is RunState.SUCCEEDED
    assert first.output_dir != second.output_dir
    merged = json.loads((Path(first.output_dir) / "config.json").read_text())
    assert merged["merged_from"] == str(services.runs.snapshot(run.id).checkpoints[-1].path)
    assert services.models.find(f"{run.id}:merged").source.model in (first.output_dir, second.output_dir)


def test_a_server_answers_under_its_runs_name_until_it_is_stopped(services: Services) -> None:
    record = services.chats.start(ServeSpec(model="starter"))
    ready = services.chats.wait_until_ready(record.id)
    listed = httpx.get(server.base_url(ready) + "/v1/models", trust_env=False).json()
    assert [model["id"] for model in listed["data"]] == [record.id]
    services.runs.stop(record.id)
    assert Watch(services.runs, record.id).ended(within_s=5).state is RunState.STOPPED


def served(services: Services, monkeypatch: pytest.MonkeyPatch, **asked: Any) -> Record:
    monkeypatch.setenv("STAND_IN", json.dumps(asked))
    return services.chats.wait_until_ready(services.chats.start(ServeSpec(model="starter")).id)


def question(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_a_conversation_that_is_too_long_is_told_so_and_the_server_answers_on(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = served(services, monkeypatch, longest=20)
    for _ in range(2):
        with pytest.raises(Failed) as caught:
            list(server.ask(services.runs, record, question("x" * 30)))
        assert (caught.value.code, caught.value.values) == ("chat_too_long", {"length": 30, "most": 20})
        assert "30 of at most 20" in explain(caught.value, "en")
        assert list(server.ask(services.runs, record, question("abc"))) == ["cba"]


def test_a_server_that_is_unloaded_in_the_middle_of_an_answer_is_no_accident(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = served(services, monkeypatch, answer_s=60)
    threading.Timer(0.5, loaded.unload, [services.runs, record.id]).start()
    with pytest.raises(Failed) as caught:
        list(server.ask(services.runs, record, question("abc")))
    assert caught.value.code == "chat_unloaded"


def test_a_server_that_is_killed_in_the_middle_of_an_answer_is_one(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = served(services, monkeypatch, answer_s=60)
    run = Watch(services.runs, record.id)
    threading.Timer(0.5, lambda: process.send(run.processes(), signal.SIGKILL)).start()
    with pytest.raises(Failed) as caught:
        list(server.ask(services.runs, record, question("abc")))
    assert caught.value.code == "chat_lost"
    ended = run.ended()
    assert ended.ready_at is not None and ended.error is not None and ended.error["code"] == "killed"


def test_one_answer_takes_a_server_along_and_leaves_no_run(services: Services) -> None:
    assert server.answer(services.chats, "starter", "abc 你好") == "好你 cba"
    assert services.runs.list() == []


def test_a_server_under_another_name_is_not_taken_for_ours(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAND_IN", json.dumps({"hidden": True}))
    run = Watch(services.runs, services.chats.start(ServeSpec(model="starter")).id)
    port = run.until(RunState.STARTING).port
    deadline = time.monotonic() + 10
    while True:
        try:
            httpx.get(f"http://127.0.0.1:{port}/v1/models", trust_env=False)
            break
        except httpx.ConnectError:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    time.sleep(1)
    assert run.folder.read().state is RunState.STARTING
