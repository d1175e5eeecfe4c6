"""Chat servers: each is a run of its own, on the loopback address, that ends when it is unloaded."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.chat import client
from services.errors import Failed, Refused, TuneDeskError
from services.hardware.device import device_of
from services.hardware.machine import Machine
from services.models.reference import Model, Models
from services.plan import Plan
from services.runs import process
from services.runs.diagnosis import failure
from services.runs.folder import Record, RunState
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import ServeSpec, as_yaml
from services.swift import commands

LOG_S = 1.0
"""How long a server may take to write down why it broke off."""
_TOO_LONG = re.compile(rb"MaxLengthError: Current length of row\((\d+)\).*?max_length\((\d+)\)", re.S)
_PROBE = "import importlib.util as u, sys; sys.exit(0 if u.find_spec('vllm') and u.find_spec('swift') else 3)"


@dataclass(frozen=True)
class ChatServers:
    """Starts, finds and ends the servers that the chat talks to."""

    settings: Settings
    runs: Runs
    models: Models
    machine: Callable[[], Machine]
    python: str

    def prepare(self, spec: ServeSpec) -> tuple[Plan, Model]:
        """What ``spec`` comes to. Raises Refused("vllm_missing", "tensor_parallel_heads" …)."""
        model = self.models.find(spec.model)
        python = self.python
        if spec.engine == "vllm":
            python = self.vllm_python()
            sizes = self.tensor_parallel_sizes(model)
            if spec.tensor_parallel not in sizes:
                raise Refused(
                    "tensor_parallel_heads",
                    size=spec.tensor_parallel,
                    heads=model.facts.heads if model.facts else "?",
                    sizes=", ".join(map(str, sizes)),
                )
        elif spec.tensor_parallel != 1:
            raise Refused("tensor_parallel_needs_vllm")
        return commands.serve_plan(spec, model.source, device_of(self.machine()), python), model

    def start(self, spec: ServeSpec, *, request_id: str = "", one_answer: bool = False) -> Record:
        """Start a server; it is ready later. One made for ``one_answer`` is nobody else's to talk to."""
        plan, model = self.prepare(spec)
        return self.runs.start(
            plan,
            name=spec.name.strip() or f"chat-{model.label}",
            spec=as_yaml(spec.model_dump(exclude_none=True)),
            request_id=request_id,
            about={"model": model.label, "engine": spec.engine, "reference": spec.model, "one_answer": one_answer},
        )

    def vllm_python(self) -> str:
        """The interpreter that has vLLM. Raises Refused("vllm_missing" or "vllm_unusable")."""
        python = self.settings.vllm_python
        if python is None:
            raise Refused("vllm_missing")
        if python not in _probed:
            _probed[python] = process.run([python, "-c", _PROBE], cwd=Path("/"), timeout_s=60).returncode == 0
        if not _probed[python]:
            raise Refused("vllm_unusable", python=python)
        return python

    def tensor_parallel_sizes(self, model: Model) -> list[int]:
        """The tensor-parallel sizes that can work: they divide the heads, and there is a card (or core) for each."""
        machine = self.machine()
        most = len(machine.cards) or machine.cores
        sizes = model.facts.tensor_parallel_sizes() if model.facts else [1, 2, 4, 8]
        return [size for size in sizes if size <= most] or [1]

    def ready(self) -> list[Record]:
        """The servers that answer now, the newest first."""
        return [record for record in self.runs.list() if record.kind == "serve" and record.state is RunState.READY]

    def wait_until_ready(self, run_id: str, timeout_s: float = 900) -> Record:
        """Wait for a server.

        Raises Failed("run_ended_badly" with the reason, or "server_ended") when it ends instead, "server_slow"
        after ``timeout_s``.
        """
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            record = self.runs.folder(run_id).read()
            if record.state is RunState.READY:
                return record
            if record.state is RunState.FAILED and record.error is not None:
                raise Failed("run_ended_badly", name=record.name, message=failure(record))
            if record.state.final or record.state is RunState.STOPPING:
                raise Failed("server_ended", name=record.name)
            time.sleep(0.2)
        raise Failed("server_slow", minutes=round(timeout_s / 60))


def base_url(record: Record) -> str:
    """Where a server listens."""
    return f"http://127.0.0.1:{record.port}"


def answer(
    servers: ChatServers,
    text: str,
    message: str,
    *,
    system: str | None = None,
    max_tokens: int = 256,
    temperature: float = 0.0,
) -> str:
    """Serve the model ``text`` just for one answer, and end the server whatever happens.

    Its run is deleted afterwards, unless it failed: then it stays, to be looked at.
    """  # fmt: skip
    record = servers.start(ServeSpec(model=text, name="one-answer"), one_answer=True)
    try:
        ready = servers.wait_until_ready(record.id)
        asked = [{"role": "user", "content": message}]
        options = {"system": system, "temperature": temperature, "top_p": 1.0, "max_tokens": max_tokens}
        reply = "".join(ask(servers.runs, ready, asked, **options))
    finally:
        servers.runs.stop(record.id, now=True)
        ended = servers.runs.wait(record.id, timeout_s=20)
    if ended.state is RunState.STOPPED:
        servers.runs.delete(record.id)
    return reply


def ask(runs: Runs, record: Record, messages: Sequence[Mapping[str, Any]], **options: Any) -> Iterator[str]:
    """``client.stream`` with the server of ``record``; what ends an answer early is told by its cause.

    Raises Failed as ``client.stream`` does, "chat_too_long" and "chat_unloaded" too.
    """
    log = runs.folder(record.id).log(record.attempt)
    written = max(0, _size(log))
    arrived = False
    try:
        for delta in client.stream(base_url(record), record.id, messages, **options):
            arrived = True
            yield delta
    except Failed as error:
        if _unloaded(runs, record.id):
            raise Failed("chat_unloaded") from error
        if not arrived and (found := _said_too_long(log, written)) is not None:
            raise Failed("chat_too_long", error.details, length=int(found[1]), most=int(found[2])) from error
        raise


def _unloaded(runs: Runs, run_id: str) -> bool:
    try:
        return runs.record(run_id).state in (RunState.STOPPING, RunState.STOPPED)
    except TuneDeskError:  # deleted, as an unloaded one is
        return True


def _said_too_long(log: Path, since: int) -> re.Match[bytes] | None:
    """What ms-swift's server logs of a conversation that its model cannot take; its answer ends without a word."""
    deadline = time.monotonic() + LOG_S
    while _size(log) >= 0:
        with log.open("rb") as file:
            file.seek(since)
            found = _TOO_LONG.search(file.read())
        if found is not None or time.monotonic() > deadline:
            return found
        time.sleep(0.05)
    return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


_probed: dict[str, bool] = {}
