"""Where a run is to run, and over which network its nodes talk: the part of a spec that is not ms-swift's."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.errors import Refused

HERE_HOSTS = ("here", "localhost", "127.0.0.1", "::1")
WrittenKind = Literal["accelerate", "dlc", "kubernetes", "ray"]
WRITTEN: tuple[WrittenKind, ...] = ("accelerate", "dlc", "kubernetes", "ray")
_ENTRY = re.compile(r"(?:(?P<user>[\w.-]+)@)?(?P<host>\w[\w.-]*|\[[0-9a-fA-F:]+\])(?::(?P<port>\d{1,5}))?")
_OPTIONS = ("slots", "interface", "name", "address", "python")


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Node(_Frozen):
    """One machine of several, as a line of a hostfile names it."""

    host: str
    user: str = ""
    port: int | None = None
    slots: int | None = Field(default=None, ge=1, le=64)
    """Ranks on it."""
    interface: str = ""
    """The network device its ranks talk over; default: the one its SSH connection came in on."""
    name: str = ""
    address: str = ""
    """The address at which the other nodes reach it; default: the one SSH reached it at."""
    python: str = ""
    """TuneDesk's interpreter on it; default: at the same path as here."""

    @property
    def label(self) -> str:
        """What people call it."""
        return self.name or (f"{self.host}:{self.port}" if self.port else self.host)

    @property
    def is_here(self) -> bool:
        """True for this very machine, which needs no SSH."""
        return self.host in HERE_HOSTS and self.port is None

    @property
    def line(self) -> str:
        """The line of a hostfile that says the same."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        place = (f"{self.user}@" if self.user else "") + host + (f":{self.port}" if self.port else "")
        return " ".join([place, *(f"{name}={value}" for name in _OPTIONS if (value := getattr(self, name)))])


def node(line: str) -> Node:
    """The node of ``user@host[:port] [slots=N] [interface=eth0] [name=B]``. Raises Refused("node_unreadable")."""
    words = line.split()
    match = _ENTRY.fullmatch(words[0]) if words else None
    pairs = [word.partition("=") for word in words[1:]]
    wrong = [name for name, mark, value in pairs if name not in _OPTIONS or not (mark and value)]
    if match is None or wrong or int(match["port"] or 1) > 65535:
        raise Refused("node_unreadable", line=line[:200], what=wrong[0] if wrong else words[0] if words else "–")
    given: dict[str, Any] = {name: value for name, _, value in pairs}
    try:
        return Node(
            host=match["host"].strip("[]"),
            user=match["user"] or "",
            port=int(match["port"]) if match["port"] else None,
            **{**given, **({"slots": int(given["slots"])} if "slots" in given else {})},
        )
    except ValueError as error:
        raise Refused("node_unreadable", line=line[:200], what="slots") from error


def nodes(lines: list[str]) -> tuple[Node, ...]:
    """The nodes of a hostfile, or of a list in a spec; ``#`` begins a comment.

    Raises Refused("node_unreadable", "nodes_none" or "node_twice").
    """
    found = tuple(node(text) for line in lines if (text := line.partition("#")[0].strip()))
    labels = [one.label for one in found]
    if not found:
        raise Refused("nodes_none")
    for label in labels:
        if labels.count(label) > 1:
            raise Refused("node_twice", node=label)
    return found


class Here(_Frozen):
    """This machine."""

    kind: Literal["here"]


class Ssh(_Frozen):
    """Several machines, reached over SSH; the first one holds rank 0."""

    kind: Literal["ssh"]
    nodes: tuple[str, ...] | str
    """``user@host[:port] [slots=N] [interface=eth0] [name=B]`` each, or the path of a file with such lines."""
    node_timeout_s: float = Field(default=60.0, ge=5, le=86400)
    """So long after the last sign of life of a node (or of this machine) the run has ended everywhere."""
    gpus: int | None = Field(default=None, ge=0, le=64)
    """Cards of each node; default: as many as here."""
    gpu_memory_gib: float | None = Field(default=None, gt=0)
    master_port: int | None = Field(default=None, ge=1, le=65535)
    """Where the ranks find each other; default: a port that is free on the first node."""
    ssh_config: str = ""
    """A configuration file for ssh; default: the person's own."""
    python: str = ""
    """TuneDesk's interpreter on the nodes; default: at the same path as here."""

    @field_validator("nodes", mode="before")
    @classmethod
    def _as_lines(cls, value: object) -> object:
        return [_node_line(item) for item in value] if isinstance(value, list | tuple) else value

    @field_validator("nodes")
    @classmethod
    def _readable(cls, value: tuple[str, ...] | str) -> tuple[str, ...] | str:
        if not isinstance(value, str):
            nodes(list(value))
        return value


class Slurm(_Frozen):
    """A Slurm cluster; sbatch, squeue and scancel are on this machine."""

    kind: Literal["slurm"]
    partition: str = ""
    account: str = ""
    qos: str = ""
    nodes: int = Field(default=1, ge=1, le=4096)
    gpus: int | None = Field(default=None, ge=0, le=64)
    """Cards on each node; default: as many as here."""
    gpu_memory_gib: float | None = Field(default=None, gt=0)
    gpu_type: str = ""
    cpus_per_task: int | None = Field(default=None, ge=1)
    memory: str = ""
    """On each node, as Slurm writes it: 64G."""
    time: str = ""
    """At most so long, as Slurm writes it: 1-12:00:00."""
    constraint: str = ""
    options: tuple[str, ...] = ()
    """Further options of sbatch, as --exclusive."""

    @field_validator("partition", "account", "qos", "gpu_type", "memory", "time", "constraint", mode="before")
    @classmethod
    def _one_word(cls, value: object) -> object:
        text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if isinstance(text, str) and not re.fullmatch(r"[\w.,:&|\[\]*@/+-]*", text):
            raise Refused("slurm_word", value=text[:80])
        return text

    @field_validator("options")
    @classmethod
    def _options_only(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for text in value:
            if not re.fullmatch(r"--[a-z][\w-]*(=[^\n\r\0]*)?", text):
                raise Refused("slurm_word", value=text[:80])
        return value


class Written(_Frozen):
    """Somewhere TuneDesk cannot reach: the scripts are written, not run."""

    kind: WrittenKind
    nodes: int = Field(default=1, ge=1, le=4096)
    gpus: int | None = Field(default=None, ge=0, le=64)
    """Cards on each node; default: as many as here."""
    gpu_memory_gib: float | None = Field(default=None, gt=0)
    image: str = ""
    """The container image that has TuneDesk's packages (dlc, kubernetes)."""
    namespace: str = ""
    """Of the cluster (kubernetes)."""
    address: str = ""
    """Of the cluster's head, as http://head:8265 (ray)."""
    workspace: str = ""
    """The workspace's id (dlc)."""


AnyTarget = Here | Ssh | Slurm | Written
Target = Annotated[AnyTarget, Field(discriminator="kind")]
HERE = Here(kind="here")


def as_target(value: object) -> object:
    """A short word (``slurm``) as the mapping it stands for."""
    return {"kind": value} if isinstance(value, str) else value


def _node_line(value: object) -> object:
    """A mapping in the list of nodes as the line it stands for."""
    if not isinstance(value, dict):
        return value
    rest = " ".join(f"{name}={item}" for name, item in value.items() if name not in ("host", "user", "port"))
    user, port = value.get("user"), value.get("port")
    return f"{f'{user}@' if user else ''}{value.get('host', '')}{f':{port}' if port else ''} {rest}".strip()


class Network(_Frozen):
    """How the ranks of a run talk to each other; what is not given is left to NCCL and gloo."""

    interface: str = Field(default="", pattern=r"^[\^=]*[\w.,:@-]*$")
    infiniband: bool | None = None
    infiniband_adapters: str = Field(default="", pattern=r"^[\^=]*[\w.,:-]*$")
    infiniband_gid_index: int | None = Field(default=None, ge=0)
    p2p: bool | None = None
    shared_memory: bool | None = None
    nvlink_sharp: bool | None = None
    timeout_s: int | None = Field(default=None, ge=1)
    debug: Literal["", "VERSION", "WARN", "INFO", "TRACE"] = ""

    @field_validator("debug", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value
