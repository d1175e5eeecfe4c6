"""The command lines that reach a node."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from services.target_specs import Node

CONNECT_S = 10


def reach(node: Node, words: Sequence[str], *, ssh_config: str = "", node_timeout_s: float = 60.0) -> tuple[str, ...]:
    """The argv that runs ``words`` on ``node``; ssh hands its words to a shell there, so they are quoted."""
    if node.is_here:
        return tuple(words)
    return (
        "ssh", "-T",
        *(("-F", ssh_config) if ssh_config else ()),
        "-o", "BatchMode=yes",
        "-o", f"ConnectTimeout={CONNECT_S}",
        "-o", f"ServerAliveInterval={max(1, int(node_timeout_s / 4))}",
        "-o", "ServerAliveCountMax=3",
        "-o", "ClearAllForwardings=yes",
        *(("-p", str(node.port)) if node.port else ()),
        *(("-l", node.user) if node.user else ()),
        "--", node.host, shlex.join(words),
    )  # fmt: skip


def node_command(python: str, *options: str) -> tuple[str, ...]:
    """What is started on a node."""
    return (python, "-P", "-m", "services.targets.node", *options)
