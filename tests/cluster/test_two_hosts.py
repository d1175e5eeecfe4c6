"""A run on two real hosts: it trains, is stopped, goes on, loses a host, and goes on with one.

One story in order: each step begins where the one before it ended.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.hosts import PORT, Hosts, two_hosts, why_not
from tests.cluster.steps import step_in
from tests.trainable_model import make_trainable_model

TIMEOUT_S = 10
START_S = 120


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if reason := why_not():
        pytest.fail(reason)
    with two_hosts(tmp_path_factory.mktemp("hosts")) as made:
        yield made


@pytest.fixture(scope="module")
def spec(hosts: Hosts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spec")
    make_trainable_model(folder / "tiny")
    turns = [
        [{"role": "user", "content": f"Number {n}?"}, {"role": "assistant", "content": f"It is {n * n}."}]
        for n in range(64)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps({"messages": turn}) + "\n" for turn in turns))
    value = {
        "name": "two", "model": str(folder / "tiny"), "dataset": str(folder / "rows.jsonl"), "model_type": "llama",
        "template": "chatml", "max_steps": 100_000, "save_steps": 50_000, "logging_steps": 1, "max_length": 64,
        "target": {
            "kind": "ssh", "node_timeout_s": TIMEOUT_S, "ssh_config": str(hosts.ssh_config),
            "nodes": [f"10.77.0.1:{PORT} name=A", f"10.77.0.2:{PORT} name=B"],
        },
    }  # fmt: skip
    (folder / "spec.yaml").write_text(json.dumps(value))
    return folder / "spec.yaml"


def show(hosts: Hosts) -> dict[str, Any]:
    return dict(json.loads(hosts.tunedesk("show", "two", "--json")))


def until(hosts: Hosts, what: Callable[[dict[str, Any]], bool], within_s: float) -> dict[str, Any]:
    deadline = time.monotonic() + within_s
    while True:
        shown = show(hosts)
        if what(shown):
            return shown
        assert shown["state"] not in ("failed", "lost", "succeeded", "stopped"), shown["log_tail"]
        assert time.monotonic() < deadline, shown["log_tail"]
        time.sleep(0.5)


def test_each_node_gets_a_line(hosts: Hosts, spec: Path) -> None:
    lines = hosts.tunedesk("nodes", str(spec)).splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("A: ready") and lines[1].startswith("B: ready")


def test_a_node_that_is_off_keeps_the_run_from_starting_and_is_named(hosts: Hosts, spec: Path, tmp_path: Path) -> None:
    value = json.loads(spec.read_text())
    value["target"]["nodes"][1] = "10.77.0.9:2222 name=C"
    (tmp_path / "off.yaml").write_text(json.dumps(value))
    said = hosts.tunedesk("train", str(tmp_path / "off.yaml"), "--detach", check=False)
    assert "C: it does not answer" in said and "A: ready" in said
    assert json.loads(hosts.tunedesk("runs", "--json")) == []


def test_two_nodes_train_one_model_and_show_in_one_run(hosts: Hosts, spec: Path) -> None:
    hosts.tunedesk("train", str(spec), "--detach")
    shown = until(hosts, lambda one: step_in(one["log_tail"]) >= 20, START_S)
    losses = [item["value"] for item in shown["metrics"] if item["name"] == "loss"]
    assert len(losses) >= 19 and losses[-1] < losses[0]
    assert "world_size: 2" in full_log(shown) and "NODE_RANK=1" in full_log(shown)
    assert [one["state"] for one in shown["nodes"]] == ["running", "running"]
    assert hosts.a.processes() and hosts.b.processes()


def full_log(shown: dict[str, Any]) -> str:
    return (Path(shown["folder"]) / "attempts" / str(shown["attempts"]) / "output.log").read_text(errors="replace")


def test_stop_saves_on_all_nodes_and_leaves_no_process(hosts: Hosts) -> None:
    before = show(hosts)["step"]
    hosts.tunedesk("stop", "two")
    shown = show(hosts)
    assert shown["state"] == "stopped", shown["log_tail"]
    assert shown["checkpoints"] and shown["checkpoints"][-1]["step"] >= before
    hosts.expect_empty(within_s=5)


def test_it_resumes_on_both_nodes_though_they_share_no_folder(hosts: Hosts) -> None:
    saved = show(hosts)["checkpoints"][-1]["step"]
    hosts.tunedesk("resume", "two", "--detach")
    shown = until(hosts, lambda one: step_in(one["log_tail"]) > saved + 5, START_S)
    assert "sending it" in full_log(shown)
    first = min(item["step"] for item in shown["metrics"] if item["step"] > saved)
    assert first == saved + 1


def test_a_cut_link_fails_the_run_within_the_timeout_and_leaves_no_process_on_either(hosts: Hosts) -> None:
    hosts.cut()
    cut_at = time.monotonic()
    shown = until_ended(hosts, TIMEOUT_S)
    took = time.monotonic() - cut_at
    assert shown["state"] == "failed"
    assert shown["error"]["code"] == "node_lost"
    assert re.match(r"node B lost", shown["error"]["message"]), shown["error"]
    assert took < TIMEOUT_S, took
    hosts.expect_empty(within_s=TIMEOUT_S - took)


def until_ended(hosts: Hosts, within_s: float) -> dict[str, Any]:
    folder = next((hosts.home / "runs").glob("2*"))
    deadline = time.monotonic() + within_s
    while json.loads((folder / "state.json").read_text())["state"] in ("running", "starting", "stopping"):
        assert time.monotonic() < deadline, (folder / "attempts/2/output.log").read_text(errors="replace")[-3000:]
        time.sleep(0.1)
    return show(hosts)


def test_it_resumes_on_one_node(hosts: Hosts) -> None:
    saved = show(hosts)["checkpoints"][-1]["step"]
    hosts.tunedesk("resume", "two", "--target", "here", "--detach")
    shown = until(hosts, lambda one: step_in(one["log_tail"]) > saved + 5, START_S)
    assert shown["attempts"] == 3 and "services.targets.lead" not in shown["argv"]
    hosts.tunedesk("stop", "two", "--now")
    assert show(hosts)["state"] == "stopped"
    hosts.expect_empty(within_s=5)
