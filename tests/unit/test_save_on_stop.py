"""The plugin in the trainer's processes: all ranks save and end at the same step, however their hooks interleave."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from services.swift.commands import SAVE_ON_STOP


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The plugin over a stand-in for ms-swift, which takes long to import."""

    class TrainerCallback:
        def __init__(self, args: Any, trainer: Any) -> None: ...

    fake = ModuleType("swift.callbacks")
    fake.TrainerCallback, fake.callbacks_map = TrainerCallback, {}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swift", ModuleType("swift"))
    monkeypatch.setitem(sys.modules, "swift.callbacks", fake)
    monkeypatch.setenv("TUNEDESK_STOP", str(tmp_path / "stop.json"))
    spec = importlib.util.spec_from_file_location("save_on_stop", SAVE_ON_STOP)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Rank:
    """One rank's trainer as far as the plugin sees it."""

    def __init__(self, plugin: ModuleType, number: int, world: int) -> None:
        self.args = SimpleNamespace(world_size=world)
        self.state = SimpleNamespace(global_step=0, is_world_process_zero=number == 0)
        self.callback = plugin.SaveOnStop(self.args, None)
        self.saves: list[int] = []
        self.ended: int | None = None
        self.callback.on_train_begin(self.args, self.state, None)

    def step(self) -> None:
        control = SimpleNamespace(should_save=False, should_training_stop=False)
        self.state.global_step += 1
        self.callback.on_step_end(self.args, self.state, control)
        if control.should_save:
            self.saves.append(self.state.global_step)
            self.callback.on_save(self.args, self.state, control)
        if control.should_training_stop:
            self.ended = self.state.global_step


def train(ranks: list[Rank], request: Path, ask_at: int, dice: random.Random, steps: int = 40) -> None:
    """Lockstep as gradients keep it: a rank begins a step only when all have ended the one before."""
    for step in range(1, steps):
        order = dice.sample(ranks, len(ranks))
        asked_before = dice.randrange(len(ranks) + 1)
        for turn, rank in enumerate(order):
            if step == ask_at and turn == asked_before:
                request.write_text("{}")
            if rank.ended is None:
                rank.step()
        if step == ask_at:
            request.write_text("{}")


@pytest.mark.parametrize("world", [1, 2, 4])
@pytest.mark.parametrize("seed", range(20))
def test_all_ranks_save_and_end_at_the_same_step(plugin: ModuleType, tmp_path: Path, world: int, seed: int) -> None:
    ranks = [Rank(plugin, number, world) for number in range(world)]
    assert (tmp_path / "stop.json.listening").exists()
    train(ranks, tmp_path / "stop.json", ask_at=7, dice=random.Random(seed))
    assert len({rank.ended for rank in ranks}) == 1
    assert ranks[0].ended in (7, 8, 9)
    assert all(rank.saves == [rank.ended] for rank in ranks)


@pytest.mark.parametrize("seed", range(20))
def test_ranks_save_together_every_few_minutes_until_one_is_told_to_stop(
    plugin: ModuleType, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin.time, "monotonic", lambda: 100.0 * max(rank.state.global_step for rank in ranks))
    ranks: list[Rank] = [SimpleNamespace(state=SimpleNamespace(global_step=0))]  # type: ignore[list-item]
    ranks = [Rank(plugin, number, 3) for number in range(3)]
    train(ranks, tmp_path / "stop.json", ask_at=25, dice=random.Random(seed))
    assert len(ranks[0].saves) > 3
    assert ranks[0].saves == ranks[1].saves == ranks[2].saves
    assert ranks[0].ended == ranks[1].ended == ranks[2].ended == ranks[0].saves[-1]


def test_a_command_copied_into_a_terminal_trains_as_if_there_were_no_plugin(
    plugin: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TUNEDESK_STOP")
    rank = Rank(plugin, 0, 1)
    (tmp_path / "stop.json").write_text("{}")
    rank.step()
    assert rank.saves == []
    assert not list(tmp_path.glob("*.listening"))


class Store(dict[str, bytes]):
    """The key-value store at which the ranks of several machines meet, as far as the plugin uses it."""

    def set(self, key: str, value: str) -> None:
        self[key] = value.encode()

    def get(self, key: str) -> bytes:  # type: ignore[override]
        return self[key]

    def check(self, keys: list[str]) -> bool:
        return all(key in self for key in keys)


@pytest.mark.parametrize("seed", range(20))
def test_ranks_on_several_machines_end_at_the_same_step_though_only_the_first_one_sees_the_request(
    plugin: ModuleType, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store()
    monkeypatch.setenv("TUNEDESK_NODES", "3")
    monkeypatch.setattr(plugin, "_store", lambda: store)
    ranks = []
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        monkeypatch.setenv("TUNEDESK_STOP", str(tmp_path / str(number) / "stop.json"))
        ranks.append(Rank(plugin, number, 3))
    train(ranks, tmp_path / "0" / "stop.json", ask_at=7, dice=random.Random(seed))
    assert len({rank.ended for rank in ranks}) == 1 and ranks[0].ended in (7, 8, 9)
    assert all(rank.saves == [rank.ended] for rank in ranks)
    assert not list(tmp_path.glob("*/stop.json.step"))
