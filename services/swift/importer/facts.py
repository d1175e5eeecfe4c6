"""What a command's launcher and environment say about processes, cards and machines, and what would really happen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.errors import Key, Refused
from services.swift.commands import DEEPSPEED
from services.swift.importer.files import Files
from services.swift.importer.grammar import option_value
from services.swift.importer.launchers import TRAININGS, Launch
from services.swift.importer.text import Said, Text

VISIBLE = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "MUSA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
RENDEZVOUS = ("MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "RANK", "WORLD_SIZE", "LOCAL_RANK")
LAUNCH_ENV = (*VISIBLE, "NPROC_PER_NODE", "NNODES", *RENDEZVOUS)
SECRET = re.compile(r"(^|.*_)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY(_ID)?)", re.IGNORECASE)
"""Names of variables and arguments that hold secrets, whole."""
ZERO_OF_ACCELERATE = {0: "zero0", 1: "zero1", 2: "zero2", 3: "zero3"}


@dataclass
class Facts:
    """Where and in how many processes a command runs."""

    processes: int | None = None
    nodes: int | None = None
    cards: tuple[str, ...] | None = None
    """None: all there are."""
    strategy: str = ""
    """What a launcher's own configuration file asks for."""
    target: dict[str, Any] = field(default_factory=dict)
    """Where it runs, as a spec says it."""
    env: dict[str, str] = field(default_factory=dict)
    said: list[Said] = field(default_factory=list)

    def say(self, key: Key, *flags: str) -> None:
        self.said.append(Said(key, flags))

    @property
    def model_parallel(self) -> bool:
        """Each process has two cards or more, over which ms-swift lays the model (device_map)."""
        return self.cards is not None and len(self.cards) >= 2 * (self.processes or 1)


def facts_of(found: Launch, files: Files) -> Facts:
    """The facts of ``found``, with notes on what has no effect or is chosen anew."""
    facts = Facts()
    _environment(facts, found)
    by_env = found.launcher in ("", "dlc", "srun", "sbatch", "docker", "ray")
    nproc = found.processes or (found.env["NPROC_PER_NODE"].value if by_env and "NPROC_PER_NODE" in found.env else None)
    facts.processes = _number(facts, "NPROC_PER_NODE" if by_env else "nproc_per_node", nproc)
    nodes = found.nodes or (found.env["NNODES"].value if by_env and "NNODES" in found.env else None)
    facts.nodes = _number(facts, "NNODES", nodes)
    visible = next((found.env[name] for name in VISIBLE if name in found.env), Text(found.gpus or "", ()))
    _cards(facts, found, visible)
    _target(facts, found)
    if found.config_file:
        _accelerate(facts, found, files)
    if found.launcher == "accelerate" and facts.processes and (facts.nodes or 1) > 1:
        facts.processes = max(1, facts.processes // (facts.nodes or 1))
    if found.launcher in ("deepspeed", "accelerate") and facts.processes is None and facts.cards:
        facts.processes = len(facts.cards)
    if found.launcher in ("torchrun", "deepspeed", "accelerate") and "NPROC_PER_NODE" in found.env:
        facts.say(Key("importing.nproc_ignored", launcher=found.launcher), "NPROC_PER_NODE")
    if facts.nodes and facts.nodes > 1 and not facts.target:
        facts.say(Key("importing.nodes", nodes=facts.nodes), "NNODES")
    _unexported(facts, found)
    return facts


def _environment(facts: Facts, found: Launch) -> None:
    for name, value in found.env.items():
        if name in RENDEZVOUS:
            continue
        if not value.known:
            facts.say(Key("importing.env_open", name=name, parts=", ".join(value.unknown)[:200]), name)
        elif SECRET.fullmatch(name) and value.value:
            facts.say(Key("importing.secret", name=name), name)
        else:
            facts.env[name] = value.value
    chosen = [name for name in RENDEZVOUS if name in found.env]
    if chosen:
        facts.say(Key("importing.chosen_at_start", names=", ".join(chosen)), *chosen)


def _number(facts: Facts, name: str, text: str | None) -> int | None:
    if text is None or text == "":
        return None
    number = text.partition(":")[2] or text  # torchrun's 1:4
    if number.isdigit() and 0 < int(number[:9]) <= 1024:
        return int(number)
    facts.say(Key("importing.count_open", name=name, value=text[:100]), name)
    return None


def _cards(facts: Facts, found: Launch, visible: Text) -> None:
    given = next((name for name in VISIBLE if name in found.env), "")
    if given and visible.known and visible.value.strip() in ("", "-1"):
        facts.say(Key("importing.no_cards"), given)
        facts.cards = ()
    elif visible.value and visible.known:
        facts.cards = tuple(part.strip() for part in visible.value.split(",") if part.strip())
    if facts.processes and facts.cards and facts.processes > len(facts.cards):
        facts.say(Key("importing.too_few_cards", processes=facts.processes, cards=len(facts.cards)))


def _target(facts: Facts, found: Launch) -> None:
    facts.target = dict(found.target)
    if not found.hosts:
        return
    slots = f" slots={facts.processes}" if facts.processes else ""
    hosts = [host for host in re.split(r",\s*", found.hosts) if host]
    is_file = "/" in found.hosts or found.hosts.endswith(".txt") or found.hosts == "hostfile"
    facts.target = {"kind": "ssh", "nodes": found.hosts if is_file else [host + slots for host in hosts]}


def slurm(headers: Sequence[str]) -> dict[str, Any]:
    """The target that the ``#SBATCH`` lines of a job script mean."""
    names = {
        "nodes": ("--nodes", "-N"), "partition": ("--partition", "-p"), "account": ("--account", "-A"),
        "qos": ("--qos", "-q"), "time": ("--time", "-t"), "memory": ("--mem",), "constraint": ("--constraint", "-C"),
        "cpus_per_task": ("--cpus-per-task", "-c"), "gpus": ("--gpus-per-node", "--gres"),
    }  # fmt: skip
    found: dict[str, Any] = {"kind": "slurm"}
    for name, options in names.items():
        value = option_value(headers, options)
        if name == "gpus":
            value = value.rpartition(":")[2]
        if name in ("nodes", "cpus_per_task", "gpus") and not value.isdigit():
            continue  # the note on all headers says it
        if value:
            found[name] = int(value) if value.isdigit() and name not in ("memory", "time", "account") else value
    return found


def _accelerate(facts: Facts, found: Launch, files: Files) -> None:
    """What accelerate's configuration file says."""
    name = str(found.config_file)
    try:
        config: Mapping[str, Any] = files.mapping(name, found.call.folder)
    except Refused:
        facts.say(Key("importing.config_unread", file=name), "--config_file")
        return
    machines = config.get("num_machines")
    facts.nodes = facts.nodes or (machines if isinstance(machines, int) and machines > 0 else None)
    processes = config.get("num_processes")
    if facts.processes is None and isinstance(processes, int) and 0 < processes <= 1024:
        facts.processes = processes
    kind = str(config.get("distributed_type", ""))
    deep = config.get("deepspeed_config")
    if kind == "DEEPSPEED" and isinstance(deep, dict):
        stage = deep.get("zero_stage", 2)
        offload = "_offload" if deep.get("offload_optimizer_device", "none") not in ("none", None) else ""
        facts.strategy = ZERO_OF_ACCELERATE.get(stage, "zero2") + (offload if stage in (2, 3) else "")
    elif kind == "FSDP":
        facts.strategy = "fsdp2"
    elif kind == "MULTI_GPU":
        facts.strategy = "ddp"
    taken = ", ".join(f"{key}: {value}" for key, value in config.items() if not isinstance(value, dict))
    facts.say(Key("importing.config_read", file=name, text=taken[:400]), "--config_file")


def _unexported(facts: Facts, found: Launch) -> None:
    """Variables that ms-swift would read, but that the script sets without exporting them."""
    names = [name for name in (*VISIBLE, "NPROC_PER_NODE", "NNODES") if name in found.call.shell_only]
    names = [name for name in names if name not in found.env]
    if names:
        facts.say(Key("importing.not_exported", names=", ".join(names)), *names)


def strategy_of(facts: Facts, settings: Mapping[str, Any], megatron: bool) -> str:
    """TuneDesk's word for how the ranks share the model."""
    if megatron:
        return "megatron"
    if settings.get("deepspeed") in DEEPSPEED:
        return str(settings["deepspeed"])
    if settings.get("fsdp") == "fsdp2":
        return "fsdp2"
    if settings.get("deepspeed") or settings.get("fsdp"):
        return "auto"
    if facts.strategy:
        return facts.strategy
    several = (facts.processes or 1) > 1
    if facts.model_parallel:
        return "ddp+device_map" if several else "device_map"
    if several:
        return "ddp"
    return "single" if facts.cards and len(facts.cards) == 1 else "auto"


def really(facts: Facts, found: Launch, settings: Mapping[str, Any]) -> None:
    """What the command would do that its words do not show."""
    cards, processes = len(facts.cards or ()), facts.processes or 1
    one_process_launcher = found.launcher not in ("deepspeed", "accelerate")
    if found.command not in TRAININGS:
        return
    if facts.model_parallel and one_process_launcher:
        shared = settings.get("deepspeed") or settings.get("fsdp")
        if shared:
            facts.say(Key("importing.parallel_fails", cards=cards, processes=processes, what=shared))
        elif processes == 1:
            facts.say(Key("importing.device_map", cards=cards))
        else:
            facts.say(Key("importing.device_map_groups", cards=cards, processes=processes, each=cards // processes))
    elif facts.processes and facts.processes > 1 and facts.cards is None:
        facts.say(Key("importing.nproc_all_cards", processes=facts.processes))
    elif facts.cards is None and facts.processes is None and found.launcher in ("", "docker"):
        facts.say(Key("importing.all_cards"))
    elif found.launcher in ("deepspeed", "accelerate") and found.processes is None:
        facts.say(Key("importing.a_process_a_card", launcher=found.launcher))
