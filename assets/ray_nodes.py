"""Runs one command on each of several machines of a Ray cluster, as torchrun's launcher wants it.

    python ray_nodes.py --nodes N --gpus G -- NAME=VALUE … command

Written out beside a run's scripts; it needs nothing but Ray.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys

import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy


@ray.remote(max_retries=0)
def meeting_place() -> tuple[str, int]:
    """The address of the machine this runs on, and a port that is free there."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return ray.util.get_node_ip_address(), probe.getsockname()[1]


@ray.remote(max_retries=0)
def run(words: list[str], variables: dict[str, str]) -> int:
    """Run the command with its variables; its output goes to the job's log."""
    given = [word.split("=", 1) for word in words[: next(i for i, word in enumerate(words) if "=" not in word)]]
    env = {**os.environ, **dict(given), **variables}
    return subprocess.run(words[len(given) :], env=env, check=False).returncode


def main() -> int:
    """The exit code of the first machine that failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    words = given.command[1:] if given.command[:1] == ["--"] else given.command
    ray.init()
    bundle = {"CPU": 1, **({"GPU": given.gpus} if given.gpus else {})}
    group = placement_group([bundle] * given.nodes, strategy="STRICT_SPREAD")
    ray.get(group.ready())

    def on(node: int, task: object, gpus: int) -> object:
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=node)
        return task.options(num_cpus=1, num_gpus=gpus, scheduling_strategy=strategy)

    address, port = ray.get(on(0, meeting_place, 0).remote())
    several = {"MASTER_ADDR": address, "MASTER_PORT": str(port), "NNODES": str(given.nodes)} if given.nodes > 1 else {}
    tasks = [
        on(node, run, given.gpus).remote(words, {**several, **({"NODE_RANK": str(node)} if several else {})})
        for node in range(given.nodes)
    ]
    return next((code for code in ray.get(tasks) if code), 0)


if __name__ == "__main__":
    sys.exit(main())
