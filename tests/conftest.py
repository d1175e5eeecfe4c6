"""What many tests need: a data folder with an awkward name, a tiny model, and the services over a stand-in."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy
import psutil
import pytest
from safetensors.numpy import save_file

from services.audits import Audits
from services.bootstrap import Services
from services.chat.server import ChatServers
from services.downloads import Downloads
from services.hardware.machine import Machine
from services.models.merge import Merges
from services.models.reference import Models
from services.runs import process
from services.runs.folder import Record, RunFolder, RunState, list_runs
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import TrainSpec, as_yaml
from services.training import Trainings

STAND_IN = Path(__file__).parent / "integration" / "stand_in.py"
AWKWARD_FOLDER = '家 it\'s {port} "$(x)"'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder whose name holds spaces, Chinese, quotes and what looks like a gap."""
    folder = tmp_path / AWKWARD_FOLDER
    folder.mkdir()
    return folder


@pytest.fixture
def tiny_model(tmp_path: Path) -> Path:
    """A model folder of a few hundred bytes, enough for all that reads it without loading it."""
    folder = tmp_path / "tiny model 小"
    folder.mkdir()
    config = {"architectures": ["LlamaForCausalLM"], "num_attention_heads": 4, "num_key_value_heads": 2}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    template = "{% for m in messages %}<|im_start|>{{ m['content'] }}{% endfor %}"
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}), encoding="utf-8")
    weights = {
        "model.embed_tokens.weight": numpy.zeros((10, 4), numpy.float32),
        "model.layers.0.self_attn.q_proj.weight": numpy.zeros((8, 4), numpy.float32),
        "model.norm.weight": numpy.zeros((4,), numpy.float32),
    }
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.fixture
def settings(home: Path, tiny_model: Path, tmp_path: Path) -> Settings:
    return Settings(home=home, starter=tiny_model, roots=(tmp_path,))


@pytest.fixture
def stand_in(home: Path) -> str:
    """An interpreter, as far as a plan can tell, that has the stand-in instead of ms-swift."""
    program = home / "python"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S {shlex.quote(str(STAND_IN))} "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.fixture
def machine() -> Machine:
    """Four cores, no card, a compiler."""
    gib = 1 << 30
    return Machine(4, 10.0, 8 * gib, 2 * gib, 100 * gib, 50 * gib, (), has_cxx_compiler=True, has_bf16=False)


@pytest.fixture
def runs(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runs]:
    """Runs with room for eight at once on the CPU. Afterwards no process of theirs is left."""
    monkeypatch.setenv("TUNEDESK_CPU_SLOTS", "8")
    yield Runs(settings.runs)
    sweep_runs(settings.runs)


@pytest.fixture
def services(settings: Settings, runs: Runs, stand_in: str, machine: Machine) -> Services:
    """What ``bootstrap.build`` makes, with the stand-in and a machine that is the same everywhere."""
    models = Models(settings, runs)
    parts = (settings, runs, models, lambda: machine, stand_in)
    return Services(
        settings, runs, models, Trainings(*parts), Merges(*parts), ChatServers(*parts), Audits(*parts),
        Downloads(settings, runs, sys.executable),
    )  # fmt: skip


def sweep_runs(root: Path) -> None:
    """End every process that the runs below ``root`` left, their keepers first; none of them stays as a zombie."""
    folders = list_runs(root)
    for folder in folders:
        process.send(keepers_of(folder), signal.SIGKILL)
    for folder in folders:
        assert process.sweep(str(folder.path), timeout_s=10)
    deadline = time.monotonic() + 5
    while zombies := [child for child in psutil.Process().children() if is_zombie(child)]:
        assert time.monotonic() < deadline, zombies
        time.sleep(0.02)


def is_zombie(one: psutil.Process) -> bool:
    try:
        return bool(one.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def keepers_of(folder: RunFolder) -> list[psutil.Process]:
    """The keepers that look after a run now."""
    found = []
    for one in psutil.process_iter():
        try:
            words = one.cmdline()
        except psutil.Error:
            continue
        if "services.runs.keeper" in words and words[-1] == str(folder.path):
            found.append(one)
    return found


@dataclass
class Watch:
    """Waits for what a test expects of one run."""

    runs: Runs
    id: str

    @property
    def folder(self) -> RunFolder:
        return self.runs.folder(self.id)

    def until(self, *states: RunState, within_s: float = 20) -> Record:
        """The record as soon as it has one of ``states``; a final state that is none of them fails at once."""
        deadline = time.monotonic() + within_s
        while True:
            record = self.folder.read()
            if record.state in states:
                return record
            assert not record.state.final, (record, self.log())
            assert time.monotonic() < deadline, (record, self.log())
            time.sleep(0.02)

    def ended(self, within_s: float = 20) -> Record:
        return self.until(*(state for state in RunState if state.final), within_s=within_s)

    def step(self, number: int, within_s: float = 20) -> None:
        """Wait until step ``number`` is done."""
        deadline = time.monotonic() + within_s
        while (self.runs.snapshot(self.id).step or 0) < number:
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)

    def processes(self) -> list[psutil.Process]:
        return process.members(mark=str(self.folder.path))

    def expect_gone(self, found: list[psutil.Process], within_s: float = 5) -> None:
        """Nothing of the run is left after a while, and of the processes ``found`` no zombie either."""
        deadline = time.monotonic() + within_s
        while left := [*self.processes(), *(one for one in found if one.is_running())]:
            assert time.monotonic() < deadline, left
            time.sleep(0.02)

    def log(self) -> str:
        record = self.folder.read()
        texts = (self.folder.log(record.attempt), self.folder.keeper_log(record.attempt))
        return "\n".join(path.read_text("utf-8", "replace")[-3000:] for path in texts if path.exists())

    def kill_keeper(self) -> None:
        record = self.folder.read()
        assert record.keeper is not None
        os.kill(record.keeper.pid, signal.SIGKILL)
        while record.keeper.alive():
            time.sleep(0.01)


def start(
    services: Services, *, processes: int = 1, grace_s: float = 30, request_id: str = "", **asked: object
) -> Watch:
    """Start a training run whose stand-in behaves as ``asked``."""
    spec = TrainSpec(processes=processes, env={"STAND_IN": json.dumps(asked)})
    prepared = services.trainings.prepare(spec)
    record = services.runs.start(
        prepared.plan, name="run", spec=as_yaml(prepared.spec.flat()), grace_s=grace_s, request_id=request_id
    )
    return Watch(services.runs, record.id)
