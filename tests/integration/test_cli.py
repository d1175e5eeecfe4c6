"""The command line as a script uses it: exit codes, JSON on stdout, sentences on stderr, runs that go on alone."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from services.runs.folder import RunState
from services.runs.lifecycle import Runs
from tests.conftest import Watch, sweep_runs

OVER_THE_STAND_IN = """
import sys
from types import SimpleNamespace
from services import bootstrap, cli
stand_in = sys.argv.pop(1)
bootstrap.process = SimpleNamespace(python=lambda: stand_in)
cli.main()
"""
SUMMARY = {"id", "name", "kind", "state", "step", "total_steps", "folder"}


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """The one JSON value on stdout."""
        return json.loads(self.out)


@dataclass
class Terminal:
    """Types ``tunedesk …`` in a folder of its own."""

    home: Path
    folder: Path
    argv: list[str]
    env: dict[str, str]

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.argv, *words], cwd=self.folder, env=self.env, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def __call__(self, *words: str) -> Answer:
        with self.start(*words) as child:
            out, err = child.communicate(timeout=60)
        return Answer(child.returncode, out, err)

    def done(self, *words: str) -> Answer:
        answer = self(*words)
        assert answer.code == 0, answer
        return answer

    def spec(self, behaviour: dict[str, Any] | None = None, **values: Any) -> str:
        """A spec file whose run behaves so."""
        path = self.folder / f"spec-{len(list(self.folder.iterdir()))}.yaml"
        env = {"STAND_IN": json.dumps(behaviour or {})}
        path.write_text(yaml.safe_dump({"name": "robot", "env": env, **values}, allow_unicode=True), "utf-8")
        return path.name

    def watch(self, run_id: str) -> Watch:
        return Watch(Runs(self.home / "runs"), run_id.strip())


@pytest.fixture
def tunedesk(home: Path, tiny_model: Path, tmp_path: Path, stand_in: str) -> Iterator[Terminal]:
    folder = tmp_path / "desk 桌"
    folder.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith("TUNEDESK_")}
    env |= {
        "TUNEDESK_HOME": str(home),
        "TUNEDESK_STARTER": str(tiny_model),
        "TUNEDESK_CPU_SLOTS": "8",
        "PYTHONWARNINGS": "error",
    }
    yield Terminal(home, folder, [sys.executable, "-c", OVER_THE_STAND_IN, stand_in], env)
    sweep_runs(home / "runs")


# planning


def test_a_dry_run_shows_the_command_and_starts_nothing(tunedesk: Terminal, home: Path, stand_in: str) -> None:
    spec = tunedesk.spec(lora_rank=4, system="say '; rm -rf' {port}")
    shown = tunedesk.done("train", spec, "--dry-run").out
    value = tunedesk.done("train", spec, "--dry-run", "--json").value
    assert value.keys() == {"argv", "env", "files", "total_steps"}
    assert value["argv"][:5] == [stand_in, "-P", "-m", "swift.cli.main", "sft"]
    assert shlex.split(shown.replace("\\\n", ""))[-len(value["argv"]) :] == value["argv"]
    assert value["argv"][value["argv"].index("--system") + 1] == "say '; rm -rf' {port}"
    assert (value["files"], value["total_steps"]) == (["sample.jsonl"], 25)
    assert not (home / "runs").exists()


FOUR_CARDS = {"gpus": [{"name": "NVIDIA A100-SXM4-40GB", "memory_gib": 40, "free_gib": 39.4}] * 4, "link": "nvlink",
              "host_memory_gib": 512, "cores": 64}  # fmt: skip


def test_a_plan_says_how_why_and_with_what_memory_and_starts_nothing(tunedesk: Terminal, home: Path) -> None:
    model = tunedesk.folder / "only a config"
    model.mkdir()
    config = {"model_type": "qwen2", "hidden_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 40,
              "num_key_value_heads": 8, "intermediate_size": 13824, "vocab_size": 152064}  # fmt: skip
    (model / "config.json").write_text(json.dumps(config))
    (tunedesk.folder / "four 卡.json").write_text(json.dumps(FOUR_CARDS))
    spec = tunedesk.spec(model="only a config")
    value = tunedesk.done("plan", spec, "--machine", "four 卡.json", "--json").value
    assert value.keys() >= {
        "strategy", "settings", "reasons", "memory_gib_per_card", "memory_gib_per_card_worst", "memory", "fits",
        "runners_up", "changed", "warned", "argv", "host_memory_gib", "disk_gib",
    }  # fmt: skip
    assert (value["strategy"], value["fits"], len(value["reasons"])) == ("zero2", True, 2)
    assert 28 < value["memory_gib_per_card"] <= value["memory_gib_per_card_worst"] <= 39.4
    text = tunedesk.done("plan", spec, "--machine", "four 卡.json", "--lang", "zh").out
    assert "ZeRO-2" in text and "张卡" in text and "swift.cli.main sft" in text
    here = tunedesk.done("plan", spec, "--json").value
    assert here["strategy"] == "single" and here["fits"] is False
    assert not (home / "runs").exists()


@pytest.mark.parametrize(
    ("file", "said"),
    [("", "not a machine"), ("[]", "not a JSON object"), ('{"cores": 4}', "host_memory_gib")],
)
def test_a_machine_that_cannot_be_read_is_exit_code_2(tunedesk: Terminal, file: str, said: str) -> None:
    (tunedesk.folder / "m.json").write_text(file)
    answer = tunedesk("plan", tunedesk.spec(), "--machine", "m.json")
    assert answer.code == 2 and said in answer.err and not answer.out


# training


def test_training_follows_the_log_to_its_end(tunedesk: Terminal) -> None:
    answer = tunedesk.done("train", tunedesk.spec({"steps": 4}))
    assert "run sh:" in answer.out and "4/4" in answer.out


def test_with_json_the_log_goes_to_stderr_and_one_value_to_stdout(tunedesk: Terminal) -> None:
    answer = tunedesk.done("train", tunedesk.spec({"steps": 4}), "--json")
    assert answer.value.keys() == SUMMARY and "4/4" in answer.err
    assert (answer.value["state"], answer.value["step"], answer.value["total_steps"]) == ("succeeded", 4, 4)


def test_a_failed_run_is_exit_code_1_and_a_sentence(tunedesk: Terminal) -> None:
    spec = tunedesk.spec({"error": "OSError: [Errno 28] No space left on device"})
    answer = tunedesk("train", spec, "--json")
    assert (answer.code, answer.value["state"]) == (1, "failed")
    assert "robot failed" in answer.err and "disk is full" in answer.err
    error = tunedesk.done("show", "robot", "--json").value["error"]
    assert error["code"] == "disk_full" and "disk is full" in error["message"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["train", "none.yaml"], "none.yaml"),
        (["train", "LIST.yaml"], "LIST.yaml"),
        (["train", "UNKNOWN.yaml"], "lerning_rate"),
        (["train", "UNKNOWN.yaml", "--dry-run", "--json"], "learning_rate"),
        (["train", "MODEL.yaml"], "/none"),
        (["train"], "spec"),
        (["show", "none"], "none"),
        (["stop", "none"], "none"),
        (["resume", "none"], "none"),
        (["delete", "none"], "none"),
        (["merge", "none"], "none"),
        (["merge", "starter"], "starter"),
        (["chat", "none", "-m", "hi"], "none"),
        (["chat", "starter"], "message"),
        (["serve", "starter", "--engine", "lmdeploy"], "lmdeploy"),
        (["serve", "starter", "--engine", "vllm"], "TUNEDESK_VLLM_PYTHON"),
        (["serve", "starter", "--tensor-parallel", "2"], "vLLM"),
        (["runs", "--lang", "fr"], "fr"),
        (["fly"], "fly"),
        (["runs", "--fly"], "fly"),
    ],
)
def test_what_cannot_be_done_is_exit_code_2_with_the_reason_on_stderr(
    tunedesk: Terminal, words: list[str], part: str
) -> None:
    (tunedesk.folder / "LIST.yaml").write_text("- a\n")
    (tunedesk.folder / "UNKNOWN.yaml").write_text("lerning_rate: 1\n")
    (tunedesk.folder / "MODEL.yaml").write_text("model: /none\n")
    answer = tunedesk(*words)
    assert (answer.code, answer.out) == (2, "")
    assert part in answer.err and "Traceback" not in answer.err


def test_a_detached_run_goes_on_without_its_terminal(tunedesk: Terminal) -> None:
    answer = tunedesk.done("train", tunedesk.spec({"steps": 10, "step_s": 0.05}), "--detach")
    run = tunedesk.watch(answer.out)
    assert answer.out.strip() == run.folder.id and "\n" not in answer.out.strip()
    assert run.ended().state is RunState.SUCCEEDED


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_detaches_and_prints_the_id(tunedesk: Terminal, as_json: bool) -> None:
    with tunedesk.start("train", tunedesk.spec({"steps": 60, "step_s": 0.05}), *["--json"] * as_json) as child:
        run = tunedesk.watch("none")
        deadline = time.monotonic() + 20
        while not (found := run.runs.list()) or not found[0].started:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        run.id = found[0].id
        run.step(2)
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        out, err = child.communicate(timeout=10)
    assert child.returncode == 0
    assert (json.loads(out)["id"] if as_json else out.splitlines()[-1]) == run.id
    assert f"tunedesk stop {run.id}" in err
    assert run.folder.read().state is RunState.RUNNING
    assert run.ended().state is RunState.SUCCEEDED


def test_now_does_not_wait_in_the_queue(tunedesk: Terminal) -> None:
    tunedesk.env["TUNEDESK_CPU_SLOTS"] = "1"
    first, second = (
        tunedesk.watch(tunedesk.done("train", tunedesk.spec({"steps": 500}), "--detach").out) for _ in range(2)
    )
    first.until(RunState.RUNNING)
    assert tunedesk.done("train", tunedesk.spec(), "--now", "--json").value["state"] == "succeeded"
    assert second.folder.read().state is RunState.QUEUED


def test_paths_are_read_from_the_folder_one_is_in_and_stay_right_everywhere(tunedesk: Terminal, tmp_path: Path) -> None:
    rows = [
        {"messages": [{"role": "user", "content": f"{n}?"}, {"role": "assistant", "content": "yes"}]} for n in range(8)
    ]
    (tunedesk.folder / "rows 行.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tunedesk.folder / "prompt.txt").write_text("be kind")
    (tmp_path / "tiny model 小").rename(tunedesk.folder / "model")
    tunedesk.env["TUNEDESK_STARTER"] = "/none"
    spec = tunedesk.spec(
        {"steps": 60, "step_s": 0.05}, model="model", dataset="rows 行.jsonl", output_dir="out 出", system="prompt.txt",
        per_device_train_batch_size=1,
    )  # fmt: skip
    run = tunedesk.watch(tunedesk.done("train", spec, "--detach").out)
    run.step(3)
    tunedesk.done("stop", "last")
    first = tunedesk.folder
    (tmp_path / "elsewhere").mkdir()
    tunedesk.folder = tmp_path / "elsewhere"
    tunedesk.done("resume", "last", "--detach")
    run.until(RunState.RUNNING)
    shown = tunedesk.done("show", "last", "--json").value
    for name, file in [
        ("model", "model"),
        ("dataset", "rows 行.jsonl"),
        ("output_dir", "out 出"),
        ("system", "prompt.txt"),
    ]:
        assert shown["argv"][shown["argv"].index(f"--{name}") + 1] == str(first / file)
    assert (shown["attempts"], shown["output_dir"]) == (2, str(first / "out 出"))
    assert all(item["path"].startswith(str(first / "out 出")) for item in shown["checkpoints"])


# looking


def test_the_list_of_runs_has_the_promised_shape(tunedesk: Terminal, home: Path) -> None:
    assert tunedesk.done("runs", "--json").value == []
    tunedesk.done("train", tunedesk.spec())
    tunedesk("train", tunedesk.spec({"error": "ValueError: no"}))
    rows = tunedesk.done("runs", "--json").value
    assert [row.keys() for row in rows] == [SUMMARY, SUMMARY]
    assert [(row["name"], row["kind"], row["state"]) for row in rows] == [
        ("robot-2", "train", "failed"),
        ("robot", "train", "succeeded"),
    ]
    assert (rows[1]["step"], rows[1]["total_steps"], rows[0]["step"]) == (3, 3, None)
    assert all(Path(row["folder"]) == home / "runs" / row["id"] and Path(row["folder"]).is_dir() for row in rows)
    text = tunedesk.done("runs").out
    assert all(row["id"] in text for row in rows) and "failed" in text


def test_all_of_a_run_has_the_promised_shape(tunedesk: Terminal, home: Path, stand_in: str) -> None:
    tunedesk.done("train", tunedesk.spec({"metrics": '"grad_norm": NaN'}))
    value = tunedesk.done("show", "robot", "--json").value
    assert value.keys() >= SUMMARY | {"attempts", "argv", "env", "metrics", "log_tail", "checkpoints", "error"}
    assert (value["attempts"], value["argv"][0], value["error"]) == (1, stand_in, None)
    assert str(home) in " ".join(value["argv"]) and "{run}" not in " ".join(value["argv"])
    planned = {name for name in value["env"] if name.startswith("MALLOC_")}
    assert value["env"].keys() - planned == {"STAND_IN"}, "what the run was given, not more"
    assert {"step": 1, "name": "loss", "value": 4.0} in value["metrics"]
    assert {"step": 1, "name": "grad_norm", "value": None} in value["metrics"]
    assert all(item.keys() == {"step", "name", "value"} for item in value["metrics"])
    assert [item["step"] for item in value["checkpoints"]] == [2, 3]
    assert all(Path(item["path"]).is_dir() and item.keys() == {"step", "path"} for item in value["checkpoints"])
    assert "3/3" in value["log_tail"]
    assert tunedesk.done("show", "last", "--json").value == value
    assert value["id"] in tunedesk.done("show", value["id"][:-2]).out


@pytest.mark.parametrize("words", [["--lang", "zh", "runs"], ["runs", "--lang", "zh"], ["runs", "--lang=zh"]])
def test_chinese_is_spoken_on_request(tunedesk: Terminal, words: list[str]) -> None:
    tunedesk.env["TUNEDESK_LANG"] = "zh"  # the window's language: scripts get English all the same
    assert tunedesk.done("runs").err == "No runs yet.\n"
    assert tunedesk.done(*words).err == "还没有运行。\n"
    assert "找不到" in tunedesk("chat", "/none", "-m", "hi", "--lang", "zh").err


@pytest.mark.parametrize("words", [["chat", "nope", "-m", "hi"], ["merge", "nope"], ["serve", "nope"]])
def test_a_name_that_nothing_has_is_told_of_the_runs(tunedesk: Terminal, words: list[str]) -> None:
    answer = tunedesk(*words)
    assert answer.code == 2 and "no run and no model called “nope”" in answer.err and "tunedesk runs" in answer.err


def test_a_run_whose_plan_is_gone_is_shown_all_the_same(tunedesk: Terminal) -> None:
    run = tunedesk.watch(tunedesk.done("train", tunedesk.spec(), "--detach").out)
    run.ended()
    run.folder.plan(1).unlink()
    shown = tunedesk.done("show", "last")
    assert "robot" in shown.out and "plan.json is missing" in shown.out
    assert tunedesk.done("show", "last", "--json").value["argv"] == []


def test_a_merge_is_deleted_with_its_model(tunedesk: Terminal, home: Path) -> None:
    tunedesk.done("train", tunedesk.spec())
    merged = tunedesk.done("merge", "robot", "--json").value
    tunedesk.done("delete", merged["run"])
    assert not Path(merged["merged"]).exists()


def test_a_pipe_that_nobody_writes_into_is_no_spec(tunedesk: Terminal) -> None:
    os.mkfifo(tunedesk.folder / "pipe")
    for words in (["train", "pipe"], ["train", "pipe", "--dry-run"]):
        answer = tunedesk(*words)
        assert answer.code == 2 and "not an ordinary file" in answer.err


# stopping, going on, deleting


@pytest.mark.parametrize("now", [False, True])
def test_stop_returns_when_the_run_has_ended(tunedesk: Terminal, now: bool) -> None:
    run = tunedesk.watch(tunedesk.done("train", tunedesk.spec({"steps": 500}), "--detach").out)
    run.step(1)
    answer = tunedesk.done("stop", "robot", *["--now"] * now)
    assert run.folder.read().state is RunState.STOPPED and answer.err == "robot: stopped\n"
    run.expect_gone([], within_s=1)


def test_a_stopped_run_resumes_and_a_finished_one_is_refused(tunedesk: Terminal) -> None:
    run = tunedesk.watch(tunedesk.done("train", tunedesk.spec({"steps": 60}), "--detach").out)
    run.step(3)
    tunedesk.done("stop", run.id)
    value = tunedesk.done("resume", "robot", "--json").value
    assert (value["id"], value["state"], value["step"]) == (run.id, "succeeded", 60)
    assert tunedesk.done("show", "robot", "--json").value["attempts"] == 2
    answer = tunedesk("resume", "robot")
    assert answer.code == 2 and "60" in answer.err


def test_only_a_run_that_ended_is_deleted(tunedesk: Terminal, home: Path) -> None:
    run = tunedesk.watch(tunedesk.done("train", tunedesk.spec({"steps": 500}), "--detach").out)
    run.step(1)
    assert tunedesk("delete", "robot").code == 2 and run.folder.path.is_dir()
    tunedesk.done("stop", "robot", "--now")
    tunedesk.done("delete", "robot")
    assert tunedesk.done("runs", "--json").value == []
    assert [path.name for path in (home / "runs").iterdir()] == [".lock"]


# merging and chatting


def test_from_training_to_merging_to_chatting(tunedesk: Terminal, home: Path) -> None:
    tunedesk.done("train", tunedesk.spec())
    merged = tunedesk.done("merge", "robot", "--json").value
    assert merged.keys() >= {"merged"} and Path(merged["merged"]).parent == home / "models"
    again = tunedesk.done("merge", "robot:checkpoint-2", "--base", "starter").out.splitlines()[-1]
    assert Path(again).is_dir() and again != merged["merged"]
    for model in ("starter", "robot", "robot:checkpoint-2", "robot:merged", merged["merged"]):
        assert tunedesk.done("chat", model, "-m", "abc 你好", "--json").value == {"model": model, "answer": "好你 cba"}
    kinds = [row["kind"] for row in tunedesk.done("runs", "--json").value]
    assert kinds == ["merge", "merge", "train"]  # a chat leaves no run behind


def test_a_server_stays_until_it_is_stopped(tunedesk: Terminal) -> None:
    value = tunedesk.done("serve", "starter", "--json").value
    listed = httpx.get(value["url"] + "/models", trust_env=False).json()
    assert [model["id"] for model in listed["data"]] == [value["model"]]
    assert tunedesk.done("show", value["run"], "--json").value["state"] == "ready"
    tunedesk.done("stop", value["run"])
    with pytest.raises(httpx.ConnectError):
        httpx.get(value["url"] + "/models", trust_env=False)


def test_a_chat_whose_server_fails_is_exit_code_1_and_keeps_the_run_to_look_at(tunedesk: Terminal) -> None:
    tunedesk.env["STAND_IN"] = json.dumps({"error": "torch.OutOfMemoryError: CUDA out of memory"})
    answer = tunedesk("chat", "starter", "-m", "hi")
    assert (answer.code, answer.out) == (1, "") and "one-answer" in answer.err
    assert tunedesk.done("show", "last", "--json").value["error"]["code"] == "out_of_memory"


def test_the_demo_tells_before_and_after_in_the_promised_shape(tunedesk: Terminal, home: Path) -> None:
    answer = tunedesk.done("demo", "--name", "小明 'x'", "--author", "{run}", "--json")
    value = answer.value
    assert value.keys() == {"before", "after", "first_loss", "last_loss", "run", "merged", "seconds"}
    assert value["before"] == "Who are you?"[::-1] and (value["first_loss"], value["last_loss"]) == (4.0, 4 / 3)
    assert Path(value["merged"]).is_dir() and "小明 'x'" in answer.err
    sample = (home / "runs" / value["run"] / "sample.jsonl").read_text("utf-8")
    assert "I am 小明 'x', an AI assistant made by {run}." in [
        json.loads(line)["messages"][1]["content"] for line in sample.splitlines()
    ]
