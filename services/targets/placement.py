"""Where a plan runs: the plan of one node becomes the plan of all of them."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import psutil

from services.errors import Refused
from services.paths import resolve
from services.plan import Plan
from services.planning.setup import Gpu, Hardware
from services.runs import process
from services.settings import Settings
from services.specs import TrainSpec
from services.target_specs import HERE, AnyTarget, Here, Node, Slurm, Ssh, Written, nodes
from services.targets import network, slurm

DEFAULT_CARD_GIB = 80.0
"""Of a node's cards that nobody has described, where this machine has none."""
LEAD, JOB = "services.targets.lead", "services.targets.slurm_job"
CARD_VARIABLES = ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")


def settled(target: AnyTarget, settings: Settings) -> AnyTarget:
    """The same target meaning the same from any folder and at any time: a hostfile's lines instead of its name.

    Raises Refused("path_not_found", "hostfile_unreadable") and as ``target_specs.nodes`` does.
    """
    if not isinstance(target, Ssh):
        return target
    config = str(resolve(target.ssh_config, settings, must_be="file")) if target.ssh_config else ""
    if isinstance(target.nodes, str):
        target = target.model_copy(update={"nodes": str(resolve(target.nodes, settings, must_be="file"))})
    return target.model_copy(update={"nodes": tuple(one.line for one in nodes_of(target)), "ssh_config": config})


def nodes_of(target: Ssh) -> tuple[Node, ...]:
    """The machines of ``target``, rank 0's first."""
    if not isinstance(target.nodes, str):
        return nodes(list(target.nodes))
    try:
        text = Path(target.nodes).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise Refused("hostfile_unreadable", path=target.nodes, why=str(error)) from error
    return nodes(text.splitlines())


def retarget(target: AnyTarget, text: str) -> AnyTarget:
    """Where a run goes on that a person named in one word: ``here``, or machines as ``a,b``, or a hostfile.

    What ``target`` says of timeouts and ports stays. Raises as ``settled`` does.
    """
    if text == "here":
        return HERE
    where = text if Path(text).is_file() else tuple(part.strip() for part in text.split(",") if part.strip())
    kept = target.model_dump(exclude={"nodes"}) if isinstance(target, Ssh) else {"kind": "ssh"}
    return Ssh(**kept, nodes=where)


def node_count(target: AnyTarget) -> int:
    """How many machines."""
    return 1 if isinstance(target, Here) else len(nodes_of(target)) if isinstance(target, Ssh) else target.nodes


def hardware_there(target: AnyTarget, here: Hardware) -> Hardware:
    """What each node has: as this machine, unless the target says how many cards."""
    if isinstance(target, Here) or target.gpus is None:
        return here
    memory = target.gpu_memory_gib
    pattern = here.gpus[0] if here.gpus else Gpu("GPU", DEFAULT_CARD_GIB, DEFAULT_CARD_GIB)
    if memory:
        pattern = replace(pattern, memory_gib=memory, free_gib=memory)
    return replace(here, gpus=tuple(replace(pattern, index=str(number)) for number in range(target.gpus)))


def of_node(plan: Plan, spec: TrainSpec) -> Plan:
    """``plan`` with what ``spec`` says of the network and of restarts: what each node does."""
    env = {**plan.env, **network.environment(spec.network), **spec.env}
    return replace(plan, env=env, max_restarts=spec.max_restarts)


def node_part(plan: Plan) -> Plan:
    """The inverse of ``placed``, as far as a command can be started by hand: the command of one node."""
    if not {LEAD, JOB} & set(plan.argv[:4]):
        return plan
    return replace(plan, argv=plan.argv[plan.argv.index("--") + 1 :])


def placed(plan: Plan, spec: TrainSpec) -> Plan:
    """``plan``, made by ``of_node``, as what this machine starts; for a target that is only written it stays that."""
    target = spec.target
    if isinstance(target, Ssh):
        return _over_ssh(plan, target, spec)
    if isinstance(target, Slurm):
        return _through_slurm(plan, target, spec)
    return replace(plan, processes=plan.processes * node_count(target))


def _over_ssh(plan: Plan, target: Ssh, spec: TrainSpec) -> Plan:
    machines = nodes_of(target)
    env = node_environment(plan, spec)
    options: list[str] = []
    for one in machines:
        options += ["--node", one.line]
    options += ["--timeout", f"{target.node_timeout_s:g}"]
    options += ["--port", str(target.master_port)] if target.master_port else []
    options += ["--ssh_config", target.ssh_config] if target.ssh_config else []
    options += ["--python", target.python] if target.python else []
    options += ["--env", ",".join(env)] if env else []
    ranks = sum(one.slots or plan.processes for one in machines)
    argv = (process.python(), "-P", "-m", LEAD, *options, "--", *plan.argv)
    across = replace(plan, argv=argv, env=env, processes=ranks)
    if any(is_this_machine(one) for one in machines):
        return across
    return replace(across, needs="nothing", devices=(), device_count=0)


def _through_slurm(plan: Plan, target: Slurm, spec: TrainSpec) -> Plan:
    env = node_environment(plan, spec)
    options = ["--env", ",".join(env), *slurm.options_of(target, plan)]
    return replace(
        plan,
        argv=(process.python(), "-P", "-m", JOB, *options, "--", *plan.argv),
        env=env,
        processes=plan.processes * target.nodes,
        needs="nothing",
        devices=(),
        device_count=0,
    )


def node_environment(plan: Plan, spec: TrainSpec) -> dict[str, str]:
    """The variables of one node, less what only the start can tell."""
    left_out = {"MASTER_PORT"}
    if plan.env.get("GLOO_SOCKET_IFNAME") == "lo" and (isinstance(spec.target, Ssh) or node_count(spec.target) > 1):
        left_out.add("GLOO_SOCKET_IFNAME")
    env = {name: value for name, value in plan.env.items() if name in spec.env or name not in left_out}
    for name in CARD_VARIABLES:
        if name in env and name not in spec.env:
            del env[name]  # each node uses the cards it has
            if spec.devices is not None:
                env[name] = ",".join(spec.devices)
    return env


def is_this_machine(node: Node) -> bool:
    """True where the node's host is this machine by name or by one of its addresses."""
    own = {one.address.partition("%")[0] for items in psutil.net_if_addrs().values() for one in items}
    return node.is_here or node.host in own


def refuse_unreachable(target: AnyTarget) -> None:
    """Raises Refused("target_only_written", "no_ssh" or "no_slurm") where this machine cannot start anything there."""
    if isinstance(target, Written):
        raise Refused("target_only_written", kind=target.kind)
    if isinstance(target, Slurm) and shutil.which("sbatch") is None:
        raise Refused("no_slurm")
    if isinstance(target, Ssh) and not all(one.is_here for one in nodes_of(target)) and shutil.which("ssh") is None:
        raise Refused("no_ssh")
