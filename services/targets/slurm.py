"""Slurm: the options of a job, its script, and what squeue, sacct and scontrol say of it. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.plan import Plan
from services.target_specs import Slurm

FIRST_PORT, PORTS = 20000, 20000
MEETING = (
    "export NNODES=$SLURM_JOB_NUM_NODES TUNEDESK_NODES=$SLURM_JOB_NUM_NODES",
    'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
    f"export MASTER_ADDR MASTER_PORT=$(({FIRST_PORT} + SLURM_JOB_ID % {PORTS}))",
    "# one task a node; torchrun starts the ranks",
)
NODE_RANK = "bash -c 'NODE_RANK=$SLURM_NODEID exec \"$@\"' bash "
STATES_LIVE = ("PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED", "REQUEUED", "RESIZING", "STAGE_OUT")
_STATE = re.compile(r"\bJobState=(\w+)")
_EXIT = re.compile(r"\bExitCode=(\d+):(\d+)")


@dataclass(frozen=True)
class JobState:
    """Where a job stands, in Slurm's words (PENDING, RUNNING, COMPLETED, FAILED, TIMEOUT, NODE_FAIL …)."""

    name: str
    exit_code: int | None = None

    @property
    def over(self) -> bool:
        return self.name not in STATES_LIVE


def options_of(target: Slurm, plan: Plan) -> tuple[str, ...]:
    """sbatch's options for a job with one task on each node, which starts that node's ranks."""
    cards = target.gpus if target.gpus is not None else plan.device_count
    cards_text = f"{target.gpu_type}:{cards}" if target.gpu_type else str(cards)
    pairs = {
        "partition": target.partition, "account": target.account, "qos": target.qos, "nodes": str(target.nodes),
        "ntasks-per-node": "1", "cpus-per-task": str(target.cpus_per_task or ""), "mem": target.memory,
        "gpus-per-node": cards_text if cards else "", "time": target.time, "constraint": target.constraint,
    }  # fmt: skip
    return (*(f"--{name}={value}" for name, value in pairs.items() if value), *target.options)


def script(options: Sequence[str], env: Mapping[str, str], words: Sequence[str], *, name: str, log: str) -> str:
    """The job's script: srun starts ``words`` once on each node.

    The node's number is known only where srun has started the task, so a shell there reads it.
    """
    title = re.sub(r"[^\w.-]+", "-", name)[:60] or "tunedesk"
    directives = [f"--job-name={title}", *options, f"--output={log.replace('%', '%%')}", "--open-mode=append"]
    with_torchrun = "NPROC_PER_NODE" in env
    return "\n".join([
        "#!/bin/bash",
        *(f"#SBATCH {_directive(option)}" for option in directives),
        "set -euo pipefail",
        *(f"export {name}={shlex.quote(value)}" for name, value in env.items()),
        *(MEETING if with_torchrun else ()),
        f"exec srun --kill-on-bad-exit=1 {NODE_RANK if with_torchrun else ''}{shlex.join(words)}",
        "",
    ])  # fmt: skip


def _directive(option: str) -> str:
    """An option as sbatch reads it from a script: quoted where it holds blanks."""
    name, mark, value = option.partition("=")
    quoted = re.sub(r'(["\\])', r"\\\1", value)
    return f'{name}="{quoted}"' if mark and re.search(r"[\s\"']", value) else option


def job_id(output: str) -> str | None:
    """The id in what ``sbatch --parsable`` printed; a cluster's name may follow it."""
    lines = [line.strip() for line in output.splitlines()]
    found = [match[1] for line in lines if (match := re.fullmatch(r"(\d+)(?:;\S*)?", line))]
    return found[-1] if found else None


def state_from_scontrol(output: str) -> JobState | None:
    """What ``scontrol show job N`` says; None where it no longer knows the job."""
    state, code = _STATE.search(output), _EXIT.search(output)
    if state is None:
        return None
    return JobState(state[1], _exit_code(code[1], code[2]) if code else None)


def state_from_sacct(output: str) -> JobState | None:
    """What ``sacct -X -n -P -o State,ExitCode -j N`` says; None where accounting does not know it."""
    for line in output.splitlines():
        words = line.strip().split("|")
        if len(words) == 2 and re.fullmatch(r"[A-Z_]+( by \d+)?", words[0]) and ":" in words[1]:
            code, _, number = words[1].partition(":")
            return JobState(words[0].split()[0], _exit_code(code, number))
    return None


def _exit_code(code: str, number: str) -> int:
    return -int(number) if number.isdigit() and int(number) else int(code) if code.isdigit() else 1
