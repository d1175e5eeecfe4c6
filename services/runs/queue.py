"""Whose turn it is: a card takes one training run, the CPU has a number of slots, first come first served.

There is no scheduler: every waiting keeper asks here, under one file lock, and the folders are the truth.
"""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from services.plan import Plan
from services.runs.folder import Record, RunFolder, RunState, list_runs

PORTS = 1 << 16


@dataclass(frozen=True)
class Turn:
    """What a run was given: cards by their physical numbers (none on a CPU) and a free port."""

    devices: tuple[str, ...]
    port: int


def lock(root: Path) -> FileLock:
    """The lock under which runs are made and take their turns."""
    root.mkdir(parents=True, exist_ok=True)
    return FileLock(root / ".lock", timeout=60)


def turn_for(mine: Record, plan: Plan, others: list[Record], cpu_slots: int) -> tuple[str, ...] | None:
    """The cards ``mine`` may start on now (empty on a CPU), or None while it has to wait.

    ``others`` are the living runs besides it.
    """
    holding = [other for other in others if other.state is not RunState.QUEUED and other.needs == mine.needs]
    ahead = [
        other
        for other in others
        if other.state is RunState.QUEUED
        and other.needs == mine.needs
        and (other.queued, other.id) < (mine.queued, mine.id)
    ]
    if plan.needs == "cards":
        taken = {device for other in holding for device in other.devices}
        if ahead and not mine.now:
            return None
        free = [device for device in plan.devices if device not in taken or mine.now]
        return tuple(free[: plan.device_count]) if len(free) >= plan.device_count else None
    if plan.needs == "cpu" and not mine.now and len(holding) + len(ahead) >= cpu_slots:
        return None
    return plan.devices[: plan.device_count]


def ahead_of(mine: Record, others: list[Record]) -> list[Record]:
    """Those of ``others`` that ``mine`` waits for: they hold what it needs too, or came before it."""
    alike = [other for other in others if other.needs == mine.needs and is_living(other)]
    holding = [other for other in alike if other.state is not RunState.QUEUED]
    before = [other for other in alike if other.state is RunState.QUEUED]
    return holding + [other for other in before if (other.queued, other.id) < (mine.queued, mine.id)]


def is_living(record: Record) -> bool:
    """True for a run that a keeper looks after, or whose command outlived its keeper."""
    return record.live or (record.state is RunState.LOST and record.child is not None and record.child.alive())


def living(root: Path, besides: str) -> list[Record]:
    """The records of all other runs that a keeper looks after, or whose command outlived its keeper."""
    records = []
    for folder in list_runs(root):
        if folder.id == besides:
            continue
        try:
            record = folder.read()
        except (OSError, ValueError):
            continue
        if is_living(record):
            records.append(record)
    return records


def take_turn(folder: RunFolder, mine: Record, plan: Plan, cpu_slots: int) -> Turn | None:
    """Give ``mine`` its cards and a port that no other run holds, or None while it has to wait.

    The caller writes its new state before it lets go of ``lock``.
    """
    others = living(folder.path.parent, folder.id)
    devices = turn_for(mine, plan, others, cpu_slots)
    if devices is None:
        return None
    return Turn(devices, free_port({other.port for other in others}))


def free_port(taken: set[int | None], first: int = 0, host: str = "127.0.0.1") -> int:
    """A port nobody listens on and no run in ``taken`` was promised; from ``first`` upwards where given.

    Raises OSError where ``host`` is no address of this machine or none of its ports is left.
    """
    candidate = first
    while candidate < PORTS:
        try:
            found = _bindable(host, candidate)
            if found not in taken:
                return found
        except (OSError, UnicodeError) as error:  # the latter for a name that no host can have
            if getattr(error, "errno", None) != errno.EADDRINUSE:
                why = getattr(error, "strerror", None) or str(error)
                raise OSError(errno.EADDRNOTAVAIL, why, host) from error
        candidate += 1 if first else 0
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE), f"{host}:{first}-{PORTS - 1}")


def _bindable(host: str, port: int) -> int:
    """``port``, or a free one for 0, when one may listen on it. Raises OSError or UnicodeError."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family) as probe:
        if port:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
        return int(probe.getsockname()[1])
