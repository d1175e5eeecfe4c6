"""Plans, targets and a clock for the tests of where a run runs."""

from __future__ import annotations

import subprocess
from typing import Any

from services.plan import Plan, Slot
from services.specs import TrainSpec
from services.target_specs import Ssh

COMMAND = ("/venv/bin/python", "-P", "-m", "swift.cli.main", "sft", "--model", "/m odels/a", "--system", "it's $HOME",
           "--output_dir", Slot("{run}/output"))  # fmt: skip
PLAN = Plan(
    kind="train", argv=COMMAND, processes=2, files={"sample.jsonl": '{"a": "b"}\n'},
    env={"NPROC_PER_NODE": "2", "MASTER_PORT": Slot("{port}"), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
)  # fmt: skip
TWO = Ssh(kind="ssh", nodes=("root@10.0.0.1:2201 interface=eth0 name=A", "10.0.0.2 slots=4"))


def spec(**fields: Any) -> TrainSpec:
    return TrainSpec(**fields)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def expect_bash(text: str) -> None:
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr + text
