"""The lead of a run on several machines: starts a keeper on each node, gathers their words, ends all when one is lost.

The run's own keeper starts it, in the run's folder, as
``python -P -m services.targets.lead --node LINE … --timeout S … --env NAME,NAME -- command``.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from services.runs import process
from services.runs.folder import RunFolder
from services.swift.commands import RESUME
from services.target_specs import HERE_HOSTS, Network, Node, node
from services.targets import network, presence, ssh
from services.targets.member import Member
from services.targets.messages import Message, Outbox, listen
from services.targets.parcel import Parcel, parcel_of
from services.targets.pulse import Pulse
from services.targets.states import write_node_states

POLL_S = 0.1
START_S = 60.0
"""How long a node's keeper may take until it is ready."""
CAUSE_S = 2.0
"""After a node's ranks failed: how long another node may take to turn out to be the lost one."""
END_S = 3.0
LAST_BYTES = 1 << 14
LAST_LINES = 60


@dataclass
class Lead:
    """``clock`` and ``sleep`` are replaceable, so that tests replay histories."""

    folder: RunFolder
    attempt: int
    nodes: tuple[Node, ...]
    env: dict[str, str]
    argv: tuple[str, ...]
    timeout_s: float
    port: int | None = None
    ssh_config: str = ""
    python: str = field(default_factory=process.python)
    clock: Callable[[], float] = time.monotonic
    say: Callable[[bytes], None] = field(default_factory=lambda: _print)
    inbox: SimpleQueue[tuple[int, Message | None]] = field(default_factory=SimpleQueue)
    members: list[Member] = field(init=False)
    failed_at: float | None = None
    asked: bool = False
    """Somebody ends this process."""
    at_line_start: bool = True
    told_stop: bool = False
    parcel: Parcel | None = None
    """The checkpoint to go on from."""

    def __post_init__(self) -> None:
        self.members = [Member(one, rank, Pulse(self.timeout_s, self.clock)) for rank, one in enumerate(self.nodes)]

    def lead(self) -> int:
        """See the run through on all nodes; the exit code of the first node that failed, 0 when none did."""
        if RESUME in self.argv and (checkpoint := Path(self.argv[self.argv.index(RESUME) + 1])).is_dir():
            self.parcel = parcel_of(checkpoint)
        for member in self.members:
            self.connect(member)
        if self.until(lambda: all(one.ready for one in self.members), START_S):
            self.go()
            self.until(lambda: all(one.ended for one in self.members), float("inf"))
        self.end_all()
        lost = [one for one in self.members if one.state == "lost"]
        codes = [one.exit_code for one in self.members if one.exit_code]
        return 1 if lost or self.asked else codes[0] if codes else 0

    def connect(self, member: Member) -> None:
        """Start the keeper on a node and tell it what it is to do."""
        one = member.node
        words = ssh.node_command(one.python or self.python)
        argv = ssh.reach(one, words, ssh_config=self.ssh_config, node_timeout_s=self.timeout_s)
        member.pipe = process.converse(argv, cwd=self.folder.path)
        assert member.pipe.stdin is not None and member.pipe.stdout is not None
        member.outbox = Outbox(member.pipe.stdin.fileno())
        member.tell(self.job(member))
        rank = member.rank
        listen(member.pipe.stdout, lambda message: self.inbox.put((rank, message)))  # type: ignore[arg-type]

    def job(self, member: Member) -> Message:
        own = member.node.python or self.python
        argv = (own, *self.argv[1:]) if self.argv[0] == process.python() else self.argv
        slots = {"NPROC_PER_NODE": str(member.node.slots)} if member.node.slots else {}
        plan = self.folder.read_plan(self.attempt)
        return {
            "run": str(self.folder.path), "attempt": self.attempt, "rank": member.rank, "argv": list(argv),
            "env": {**self.env, **slots}, "files": dict(plan.files), "timeout_s": self.timeout_s, "port": self.port,
            "parcel": self.parcel.as_json() if self.parcel else None,
        }  # fmt: skip

    def go(self) -> None:
        """All keepers are ready: tell each where the ranks find each other."""
        facts = [one.ready or {} for one in self.members]
        address = self.address_of(0)
        for member in self.members:
            device = member.node.interface
            if not device and not {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"} & self.env.keys():
                device = presence.device_with(self.address_of(member.rank), facts[member.rank]["devices"])
            meeting = {
                "NNODES": str(len(self.members)), "NODE_RANK": str(member.rank), "MASTER_ADDR": address,
                "MASTER_PORT": str(facts[0]["port"]), "TUNEDESK_NODES": str(len(self.members)),
            }  # fmt: skip
            with_torchrun = len(self.members) > 1 or member.node.slots or "NPROC_PER_NODE" in self.env
            variables = {**(meeting if with_torchrun else {}), **network.environment(Network(), device)}
            member.tell({"go": variables})
            member.state = "running"
            told = " ".join(f"{key}={value}" for key, value in variables.items())
            place = f" (its output: {self.log_of(member)})" if member.rank else ""
            self.note(f"node {member.node.label}: {told}{place}")
        self.write_states()

    def address_of(self, rank: int) -> str:
        """Where the other nodes reach the node of ``rank``."""
        member, others = self.members[rank], [one for one in self.members if one.rank != rank]
        if member.node.address:
            return member.node.address
        found = str((member.ready or {}).get("address") or "")
        if found in ("", *HERE_HOSTS):  # this very machine: others know it by where they were reached from
            seen = [str((one.ready or {}).get("came_from") or "") for one in others]
            found = next((one for one in seen if one not in ("", *HERE_HOSTS)), found or "127.0.0.1")
        return found

    def until(self, done: Callable[[], bool], within_s: float) -> bool:
        """Look after the nodes until ``done``; False when a node failed, was lost or was not ready in time."""
        began = self.clock()
        while not done():
            self.attend()
            if self.asked or self.settled():
                return False
            for member in self.members:
                if not member.ready and self.clock() - max(began, member.progress_at) > within_s:
                    self.lose(member, f"it was not ready after {within_s:.0f} s")
        return not any(one.state in ("failed", "lost") for one in self.members)

    def settled(self) -> bool:
        """True when a node failed, and no other one has turned out to be the cause within a moment."""
        if any(one.state == "lost" for one in self.members):
            return True
        if self.failed_at is None and any(one.state == "failed" for one in self.members):
            self.failed_at = self.clock()
        return self.failed_at is not None and self.clock() - self.failed_at > CAUSE_S

    def attend(self) -> None:
        """Take what the nodes say, give them signs of life, pass a request to stop on."""
        with contextlib.suppress(Empty):
            self.take(*self.inbox.get(timeout=POLL_S))
            while True:
                self.take(*self.inbox.get_nowait())
        if not self.told_stop and self.folder.stop.exists():
            self.told_stop = True
            self.members[0].tell({"stop": True})  # its first rank names the step at which all ranks end
        for member in self.members:
            if not member.ended and member.pulse.due():
                member.tell({"beat": True})
            if not member.ended and member.ready and member.pulse.lost:
                self.lose(member, f"no sign of life for {member.pulse.silent_s:.0f} s")

    def take(self, rank: int, message: Message | None) -> None:
        member = self.members[rank]
        if member.ended:
            return
        if message is None:
            self.lose(member, "the connection to it ended")
            return
        member.pulse.hear()
        if "log" in message:
            self.copy(member, str(message["log"]).encode("latin-1"))
        elif "ready" in message:
            member.ready = message["ready"]
        elif "want" in message and self.parcel is not None:
            self.note(f"node {member.node.label}: sending it {len(message['want'])} files of {self.parcel.path}")
            Thread(target=self.send, args=(member, message["want"]), daemon=True).start()
        elif "got" in message:
            member.progress_at = self.clock()
        elif "listening" in message:
            self.folder.stop_listener.touch()
        elif "failed" in message:
            self.note(f"node {member.node.label} could not start: {message['failed']}")
            member.exit_code, member.state = 1, "failed"
        elif "exit" in message:
            member.exit_code = int(message["exit"])
            member.state = "failed" if member.exit_code else "ended"
            if member.exit_code:
                self.quote(member)
                self.note(f"node {member.node.label} ended with exit code {member.exit_code}")
            self.write_states()

    def send(self, member: Member, names: list[str]) -> None:
        """Give a node the files it lacks, as fast as it takes them."""
        assert self.parcel is not None
        for name in names:
            for piece in self.parcel.pieces(name):
                while member.outbox is not None and member.outbox.is_full:
                    time.sleep(POLL_S)
                member.tell(piece)

    def lose(self, member: Member, why: str) -> None:
        if self.asked:  # its connection ended with us
            member.state = "ended"
            return
        self.note(f"node {member.node.label} lost: {why}")
        member.state = "lost"
        self.write_states()

    def copy(self, member: Member, data: bytes) -> None:
        """The first node's output is the run's, as on one machine; each other one's has a file beside it."""
        if member.rank == 0:
            self.at_line_start = data.endswith(b"\n")
            self.say(data)
            return
        member.last = (member.last + data)[-LAST_BYTES:]
        with contextlib.suppress(OSError), self.log_of(member).open("ab") as file:
            file.write(data)

    def log_of(self, member: Member) -> Path:
        return self.folder.attempt(self.attempt) / f"node-{member.rank}.log"

    def quote(self, member: Member) -> None:
        """The end of a failed node's output, line by line and marked."""
        mark = f"[node {member.node.label}] ".encode()
        lines = member.last.replace(b"\r", b"\n").split(b"\n")
        self.fresh_line(b"".join(mark + line + b"\n" for line in lines[-LAST_LINES:] if line.strip()))

    def note(self, text: str) -> None:
        self.fresh_line(f"[tunedesk] {text}\n".encode())

    def fresh_line(self, data: bytes) -> None:
        if data:
            self.say(data if self.at_line_start else b"\n" + data)
            self.at_line_start = True

    def end_all(self) -> None:
        """End what still runs, and every connection."""
        for member in self.members:
            member.tell({"end": True})
        deadline = self.clock() + END_S
        while self.clock() < deadline and not all(one.ended for one in self.members):
            with contextlib.suppress(Empty):
                self.take(*self.inbox.get(timeout=POLL_S))
        for member in self.members:
            if member.pipe is not None:
                if member.pipe.stdin is not None:
                    with contextlib.suppress(OSError):
                        member.pipe.stdin.close()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    member.pipe.wait(timeout=0.5)
                process.kill_tree(member.pipe.pid)
            # where the node is this machine and its keeper was killed
            process.sweep(f"{self.folder.path}@{member.rank}")
        self.write_states()

    def write_states(self) -> None:
        """How the nodes are, for whoever shows the run."""
        states = [
            {"node": one.node.label, "rank": one.rank, "state": one.state, "exit_code": one.exit_code}
            for one in self.members
        ]
        write_node_states(self.folder, self.attempt, states)


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def arguments(words: Sequence[str]) -> dict[str, Any]:
    """The fields of a Lead that its command line gives."""
    parser = argparse.ArgumentParser(prog="services.targets.lead")
    parser.add_argument("--node", action="append", required=True)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--port", type=int)
    parser.add_argument("--ssh_config", default="")
    parser.add_argument("--python", default=process.python())
    parser.add_argument("--env", default="", help="names of the variables to hand on")
    split = list(words).index("--")
    given = parser.parse_args(words[:split])
    env = process.own_environment(given.env.split(","))
    return {
        "nodes": tuple(node(line) for line in given.node), "timeout_s": given.timeout, "port": given.port,
        "ssh_config": given.ssh_config, "python": given.python, "env": env, "argv": tuple(words[split + 1 :]),
    }  # fmt: skip


def main(words: list[str]) -> int:
    folder = RunFolder(Path.cwd())
    made = Lead(folder=folder, attempt=folder.read().attempt, **arguments(words))
    signal.signal(signal.SIGTERM, lambda *_: setattr(made, "asked", True))
    return made.lead()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
