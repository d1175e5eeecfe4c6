"""Slurm: the script, what its programs say, a run as a job."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from services.runs.folder import Record, RunFolder
from services.runs.process import Result
from services.target_specs import Slurm
from services.targets import placement, slurm
from services.targets.slurm_job import Job
from tests.target_plans import PLAN, Clock, expect_bash, spec

# ── Slurm ──


def test_a_slurm_script_is_bash_and_says_what_was_asked(tmp_path: Path) -> None:
    target = Slurm(kind="slurm", partition="gpu", nodes=2, gpus=8, gpu_type="h100", time="1-00:00:00", memory="64G")
    plan = placement.placed(PLAN, spec(target=target))
    split = plan.argv.index("--")
    words = plan.filled({"run": "/r un"}).argv[split + 1 :]
    assert plan.argv[4:6] == ("--env", ",".join(plan.env))
    text = slurm.script(plan.argv[6:split], {**plan.env, "A": "it's"}, words, name="my run!", log="/r un/slurm.log")
    expect_bash(text)
    for line in ("--job-name=my-run-", "--partition=gpu", "--nodes=2", "--gpus-per-node=h100:8", "--time=1-00:00:00",
                 "--mem=64G", "--ntasks-per-node=1", '--output="/r un/slurm.log"'):  # fmt: skip
        assert f"#SBATCH {line}" in text.splitlines()
    command = list(words)
    command[0] = "say"
    said = said_by(text.replace("/venv/bin/python", "say", 1), tmp_path)
    assert said == ["1 2 node1 20007 2 it's", *command[1:]]
    assert plan.processes == 4 and plan.needs == "nothing"


def said_by(text: str, tmp_path: Path) -> list[str]:
    """What the command in a script is given, with stand-ins for it and for Slurm's programs."""
    told = 'printf "%s\\0" "$NODE_RANK $NNODES $MASTER_ADDR $MASTER_PORT $NPROC_PER_NODE $A" "$@"'
    for name, body in (("srun", 'shift; exec "$@"'), ("scontrol", "echo node1"), ("say", told)):
        (tmp_path / name).write_text(f"#!/bin/bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_NUM_NODES": "2", "SLURM_JOB_ID": "7", "SLURM_NODEID": "1",
           "SLURM_JOB_NODELIST": "node[1-2]"}  # fmt: skip
    done = subprocess.run(["bash", "-c", text], env=env, text=True, capture_output=True, check=True)
    return done.stdout.split("\0")[:-1]


@pytest.mark.parametrize(
    ("output", "state", "code"),
    [
        ("JobId=7 JobName=a\n JobState=RUNNING Reason=None\n ExitCode=0:0", "RUNNING", 0),
        ("JobId=7\n JobState=FAILED Reason=NonZeroExitCode\n ExitCode=3:0", "FAILED", 3),
        ("JobId=7\n JobState=CANCELLED\n ExitCode=0:15", "CANCELLED", -15),
    ],
)
def test_the_state_of_a_job_is_read_from_scontrol(output: str, state: str, code: int) -> None:
    found = slurm.state_from_scontrol(output)
    assert found is not None and (found.name, found.exit_code) == (state, code)
    assert found.over is (state != "RUNNING")


def test_the_state_of_a_job_that_is_long_over_is_read_from_sacct() -> None:
    found = slurm.state_from_sacct("COMPLETED|0:0\n")
    assert found is not None and found.over and found.exit_code == 0
    cancelled = slurm.state_from_sacct("CANCELLED by 1000|0:15\n")
    assert cancelled is not None and cancelled.name == "CANCELLED"
    assert slurm.state_from_sacct("Slurm accounting storage is disabled\n") is None
    assert slurm.job_id("12345;cluster\n") == "12345" and slurm.job_id("sbatch: error: no\n") is None


# ── a run as a Slurm job ──


class FakeSlurm:
    """Slurm's programs: each answers with what a test gives it, the last answer again and again."""

    def __init__(self, **answers: list[Result]) -> None:
        self.answers = answers
        self.asked: list[list[str]] = []

    def __call__(self, argv: list[str], **_: Any) -> Result:
        self.asked.append(argv)
        left = self.answers.get(argv[0], [Result(1, "")])
        return left.pop(0) if len(left) > 1 else left[0]


def job_of(tmp_path: Path, fake: FakeSlurm, said: list[bytes], attempt: int = 1) -> Job:
    folder, clock = RunFolder(tmp_path), Clock()
    folder.attempt(attempt).mkdir(parents=True)
    folder.write(Record(id="r", name="my run", kind="train"))

    def sleep(seconds: float) -> None:
        clock.now += seconds

    return Job(folder, attempt, ("--partition=gpu",), ("swift", "sft"), {"TOKEN": "secret"}, run=fake, clock=clock,
               sleep=sleep, say=said.append)  # fmt: skip


def state_of(name: str, code: str = "0:0") -> Result:
    return Result(0, f"JobId=7\n JobState={name}\n ExitCode={code}\n")


def test_a_job_is_followed_to_its_end_and_ends_as_slurm_says(tmp_path: Path) -> None:
    states = [state_of("PENDING"), state_of("RUNNING"), state_of("FAILED", "3:0")]
    job = job_of(tmp_path, FakeSlurm(sbatch=[Result(0, "7\n")], scontrol=states), said := [])
    job.log.write_bytes(b"Train: 1%")
    assert job.see_through() == 3
    text = b"".join(said).decode()
    for line in ("Slurm job 7 submitted", "Slurm job 7 is RUNNING", "Train: 1%", "Slurm job 7 ended as FAILED"):
        assert line in text
    script = job.folder.attempt(1) / "job.sbatch"
    assert "export TOKEN=secret" in script.read_text() and script.stat().st_mode & 0o077 == 0
    assert f"export TUNEDESK_STOP={shlex.quote(str(job.folder.stop))}" in script.read_text()


def test_a_job_that_slurm_refuses_fails_with_slurm_s_words(tmp_path: Path) -> None:
    fake = FakeSlurm(sbatch=[Result(1, "sbatch: error: invalid partition specified: gpu")])
    assert job_of(tmp_path, fake, said := []).see_through() == 1
    assert b"invalid partition" in b"".join(said)


def test_a_job_that_is_asked_to_end_is_cancelled(tmp_path: Path) -> None:
    fake = FakeSlurm(sbatch=[Result(0, "7\n")], scontrol=[state_of("RUNNING")])
    job = job_of(tmp_path, fake, [])
    job.asked = True
    assert job.see_through() < 0 and fake.asked[-1] == ["scancel", "7"]


def test_a_job_that_slurm_no_longer_knows_is_looked_up_in_the_accounting_and_else_is_gone(tmp_path: Path) -> None:
    forgotten = {"sbatch": [Result(0, "7\n")], "scontrol": [Result(1, "slurm_load_jobs error: Invalid job id")]}
    known = FakeSlurm(**forgotten, sacct=[Result(0, "COMPLETED|0:0\n")])
    assert job_of(tmp_path / "known", known, []).see_through() == 0
    assert job_of(tmp_path / "gone", FakeSlurm(**forgotten), said := []).see_through() == 1
    assert b"ended as UNKNOWN" in b"".join(said)


def test_a_new_attempt_cancels_the_job_that_a_killed_keeper_left(tmp_path: Path) -> None:
    states = [state_of("COMPLETED")]
    job_of(tmp_path, FakeSlurm(sbatch=[Result(0, "7\n")], scontrol=states), []).see_through()
    again = FakeSlurm(sbatch=[Result(0, "8\n")], scontrol=states)
    job_of(tmp_path, again, [], attempt=2).see_through()
    assert again.asked[0] == ["scancel", "--quiet", "7"]
