"""Scripts for places TuneDesk cannot reach: accelerate, PAI DLC, Kubernetes, Ray and Slurm. Written, not run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from services.plan import Plan
from services.settings import ASSETS
from services.specs import TrainSpec
from services.swift.commands import MEGATRON, SAVE_ON_STOP
from services.target_specs import Slurm, Written
from services.targets import slurm
from services.targets.placement import CARD_VARIABLES, node_count

NOT_RUN = "Written by TuneDesk, not run here."
KINDS = ("accelerate", "dlc", "kubernetes", "ray", "slurm")
PORT = "29500"
IMAGE = "your-registry/your-image:tag"
SHARED = "/tunedesk"
"""Where the cluster's shared volume is mounted in a pod."""
RUN = "./tunedesk-run"
RAY_NODES = ASSETS / "ray_nodes.py"


def written(plan: Plan, spec: TrainSpec, kind: str) -> dict[str, str]:
    """File name -> text: what runs ``plan``, the plan of one node, by ``kind``; the files the command reads too.

    The run's folder becomes ``./tunedesk-run`` beside the scripts (in a pod a folder of the shared volume). What only
    serves a run that TuneDesk itself watches is left out. ``kind`` is one of KINDS.
    """
    count = node_count(spec.target)
    target = Slurm(kind="slurm", nodes=count) if kind == "slurm" else Written(kind=kind, nodes=count)  # type: ignore[arg-type]
    if isinstance(spec.target, Written | Slurm) and spec.target.kind == kind:
        target = spec.target
    makers: dict[str, Callable[[Command], dict[str, str]]] = {
        "accelerate": _accelerate, "dlc": _dlc, "kubernetes": _kubernetes, "ray": _ray, "slurm": _slurm,
    }  # fmt: skip
    return makers[kind](Command(plan, spec, target, f"{SHARED}/{_name(spec)}" if kind == "kubernetes" else RUN))


class Command:
    """The command of one node, as it is written into a script."""

    def __init__(self, plan: Plan, spec: TrainSpec, target: Written | Slurm, run: str) -> None:
        filled = plan.filled({"run": run, "port": PORT})
        self.plan, self.spec, self.name, self.run = plan, spec, _name(spec), run
        self.target: Any = target
        self.nodes = self.target.nodes
        self.processes = int(plan.env.get("NPROC_PER_NODE") or 1)
        self.cards = self.target.gpus if self.target.gpus is not None else plan.device_count
        self.arguments = _without_ours(filled.argv[5:])
        self.command, self.megatron = filled.argv[4], MEGATRON in filled.argv
        self.words = ["megatron" if self.megatron else "swift", self.command, *self.arguments]
        self.module = f"swift.cli.{'_megatron.' if self.megatron else ''}{self.command}"
        self.files = {f"{RUN.removeprefix('./')}/{name}": text for name, text in plan.files.items()}
        dropped = {"MASTER_PORT", *CARD_VARIABLES} | ({"GLOO_SOCKET_IFNAME"} if self.on_loopback else set())
        self.env = {name: str(value) for name, value in filled.env.items() if name in spec.env or name not in dropped}
        if self.launched:
            self.env.setdefault("NPROC_PER_NODE", str(self.processes))

    @property
    def on_loopback(self) -> bool:
        return self.nodes > 1 and self.plan.env.get("GLOO_SOCKET_IFNAME") == "lo"

    @property
    def launched(self) -> bool:
        """True where torchrun starts the ranks."""
        return self.nodes > 1 or "NPROC_PER_NODE" in self.plan.env


def _accelerate(command: Command) -> dict[str, str]:
    on_cpu = not command.cards
    ranks = command.processes * command.nodes
    kind = ("MULTI_CPU" if on_cpu else "MULTI_GPU") if ranks > 1 else "NO"
    config = {
        "compute_environment": "LOCAL_MACHINE", "distributed_type": kind, "num_machines": command.nodes,
        "num_processes": ranks, "machine_rank": 0, "main_process_port": int(PORT), "rdzv_backend": "static",
        "same_network": True, "mixed_precision": "no", "use_cpu": on_cpu, "main_training_function": "main",
    }  # fmt: skip
    env = {name: value for name, value in command.env.items() if name != "NPROC_PER_NODE"}
    across = ['  --machine_rank "${NODE_RANK:?}" --main_process_ip "${MASTER_ADDR:?}" \\'] if command.nodes > 1 else []
    lines = ["accelerate launch --config_file accelerate.yaml \\", *across,
             f"  -m {command.module} {_lines(command.arguments)}"]  # fmt: skip
    notes = ["Start it on every machine with NODE_RANK=0, 1 … and MASTER_ADDR set."] if command.nodes > 1 else []
    notes += (
        ["On CPUs accelerate starts several ranks only through MPI: add mpirun_config."] if kind == "MULTI_CPU" else []
    )
    note = " ".join(notes)
    return {
        "accelerate.yaml": f"# {NOT_RUN}\n" + yaml.safe_dump(config, sort_keys=False),
        "accelerate.sh": _bash(note, env, lines),
        **command.files,
    }


def _dlc(command: Command) -> dict[str, str]:
    """Alibaba PAI DLC gives a PyTorch job WORLD_SIZE (machines), RANK (this one), MASTER_ADDR and MASTER_PORT."""
    ranks = ["export NNODES=$WORLD_SIZE NODE_RANK=$RANK"] if command.launched else []
    lines = [*ranks, "unset WORLD_SIZE RANK", _lines(command.words)]
    submit = {
        "name": command.name, "workers": command.nodes, "worker_gpu": command.cards or None,
        "worker_image": command.target.image or IMAGE, "workspace_id": command.target.workspace or None,
        "command": "cd <your mounted folder> && bash dlc.sh",
    }  # fmt: skip
    options = [f"--{name}={shlex.quote(str(value))}" for name, value in submit.items() if value is not None]
    return {
        "dlc.sh": _bash("Runs on every worker.", command.env, lines),
        "submit.sh": _bash("", {}, [" \\\n  ".join(["dlc submit pytorchjob", *options])]),
        **command.files,
    }


def _kubernetes(command: Command) -> dict[str, str]:
    """A PyTorchJob of the Kubeflow training operator, which gives each pod MASTER_ADDR, MASTER_PORT and RANK."""
    files = {name.rpartition("/")[2]: text for name, text in command.files.items()}
    replicas = {"Master": _pods(command, 1, files)}
    if command.nodes > 1:
        replicas["Worker"] = _pods(command, command.nodes - 1, files)
    metadata = {"name": command.name, **({"namespace": command.target.namespace} if command.target.namespace else {})}
    documents: list[dict[str, Any]] = []
    if files:
        documents.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": files})
    documents.append({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata,
        "spec": {"pytorchReplicaSpecs": replicas},
    })  # fmt: skip
    note = f"# {NOT_RUN} It expects a volume claim named tunedesk, at {SHARED}, that holds the model and the data.\n"
    return {"pytorchjob.yaml": note + yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True, width=1000)}


def _pods(command: Command, count: int, files: Mapping[str, str]) -> dict[str, Any]:
    shell = 'export NODE_RANK="$RANK"; unset RANK WORLD_SIZE; exec "$@"'
    env = {**command.env, **({"NNODES": str(command.nodes)} if command.launched else {})}
    mounts = [{"name": "shared", "mountPath": SHARED}]
    volumes: list[dict[str, Any]] = [{"name": "shared", "persistentVolumeClaim": {"claimName": "tunedesk"}}]
    if files:
        volumes.append({"name": "files", "configMap": {"name": command.name}})
        mounts += [{"name": "files", "mountPath": f"{command.run}/{name}", "subPath": name} for name in files]
    kind = "huawei.com/Ascend910" if "ASCEND_RT_VISIBLE_DEVICES" in command.plan.env else "nvidia.com/gpu"
    container = {
        "name": "pytorch", "image": command.target.image or IMAGE,
        "command": ["bash", "-c", shell, "bash"] if command.launched else [],
        "args": command.words,
        "env": [{"name": name, "value": value} for name, value in env.items()],
        **({"resources": {"limits": {kind: command.cards}}} if command.cards else {}),
        "volumeMounts": mounts,
    }  # fmt: skip
    if not command.launched:
        container["command"], container["args"] = command.words[:1], command.words[1:]
    template = {"spec": {"containers": [container], "volumes": volumes}}
    return {"replicas": count, "restartPolicy": "OnFailure", "template": template}


def _ray(command: Command) -> dict[str, str]:
    address = command.target.address or "http://127.0.0.1:8265"
    submit = ["ray job submit", f"--address={shlex.quote(address)}", "--working-dir=."]
    script = RAY_NODES.read_text(encoding="utf-8")
    words = ["python", "ray_nodes.py", "--nodes", str(command.nodes), "--gpus", str(command.cards), "--"]
    given = [f"{name}={value}" for name, value in command.env.items()]
    body = f"{' '.join(submit)} -- \\\n  {shlex.join(words)} {_lines([*given, *command.words])}"
    return {"ray_job.sh": _bash("", {}, [body]), "ray_nodes.py": f"# {NOT_RUN}\n{script}", **command.files}


def _slurm(command: Command) -> dict[str, str]:
    options = slurm.options_of(command.target, command.plan)
    text = slurm.script(options, command.env, command.words, name=command.name, log="slurm-%j.log")
    head, _, rest = text.replace("slurm-%%j", "slurm-%j").partition("\n")
    return {"job.sbatch": f"{head}\n# {NOT_RUN}\n{rest}", **command.files}


def _bash(note: str, env: Mapping[str, str], lines: list[str]) -> str:
    exports = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
    head = ["#!/usr/bin/env bash", f"# {NOT_RUN}{' ' + note if note else ''}", "set -euo pipefail"]
    return "\n".join([*head, *exports, *lines]) + "\n"


def _lines(words: list[str]) -> str:
    """Quoted for a shell, one flag with its values a line."""
    text = ""
    for word in words:
        gap = " \\\n  " if word.startswith("--") and word != "--" else " "
        text += (gap if text else "") + shlex.quote(word)
    return text


def _without_ours(words: tuple[str, ...]) -> list[str]:
    """Less the plugin that hears TuneDesk's requests to stop: elsewhere there is no file of that name."""
    kept = [word for word in words if word not in (str(SAVE_ON_STOP), "save_on_stop")]
    flags = ("--external_plugins", "--callbacks")
    return [
        word for index, word in enumerate(kept)
        if word not in flags or not (index + 1 == len(kept) or kept[index + 1].startswith("--"))
    ]  # fmt: skip


def _name(spec: TrainSpec) -> str:
    """A name that Kubernetes takes too."""
    return re.sub(r"[^a-z0-9]+", "-", spec.name.lower()).strip("-")[:50] or "tunedesk"
