"""Whose turn it is."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.plan import Plan
from services.runs import process, queue
from services.runs.folder import Record, RunFolder, RunState

CPU = Plan("train", ("a",), needs="cpu")


def cards(*devices: str, count: int) -> Plan:
    return Plan("train", ("a",), needs="cards", devices=devices, device_count=count)


def other(number: int, state: RunState = RunState.RUNNING, **values: Any) -> Record:
    return Record(id=f"r{number}", name="x", kind="train", state=state, queued=float(number), **values)


MINE = other(5, RunState.QUEUED)
MINE_ON_CARDS = other(5, RunState.QUEUED, needs="cards")


@pytest.mark.parametrize(
    ("others", "slots", "may"),
    [
        ([], 1, True),
        ([other(1)], 1, False),
        ([other(1)], 2, True),
        ([other(1, RunState.STOPPING)], 1, False),
        ([other(1, RunState.STARTING)], 1, False),
        ([other(1, RunState.QUEUED)], 1, False),
        ([other(9, RunState.QUEUED)], 1, True),
        ([other(1), other(2, RunState.QUEUED)], 3, True),
        ([other(1), other(2, RunState.QUEUED)], 2, False),
        ([other(1, needs="cards", devices=("0",)), other(2, RunState.READY, needs="nothing")], 1, True),
    ],
)
def test_the_cpu_has_slots_and_the_first_to_come_is_the_first_to_go(
    others: list[Record], slots: int, may: bool
) -> None:
    assert queue.turn_for(MINE, CPU, others, slots) == (() if may else None)


def test_two_that_came_at_the_same_moment_go_by_their_ids() -> None:
    twin = other(5, RunState.QUEUED)
    assert queue.turn_for(Record(**{**MINE.__dict__, "id": "r4"}), CPU, [twin], 1) == ()
    assert queue.turn_for(Record(**{**MINE.__dict__, "id": "r6"}), CPU, [twin], 1) is None


@pytest.mark.parametrize(
    ("plan", "taken", "given"),
    [
        (cards("0", "1", count=1), [], ("0",)),
        (cards("0", "1", count=1), ["0"], ("1",)),
        (cards("0", "1", count=2), ["1"], None),
        (cards("2", "3", count=2), ["0", "1"], ("2", "3")),
        (cards("2", count=1), ["2"], None),
    ],
)
def test_a_card_takes_one_run(plan: Plan, taken: list[str], given: tuple[str, ...] | None) -> None:
    others = [other(1, needs="cards", devices=(device,)) for device in taken]
    assert queue.turn_for(MINE_ON_CARDS, plan, others, 1) == given


def test_on_cards_nobody_overtakes() -> None:
    waiting = other(1, RunState.QUEUED, needs="cards")
    assert queue.turn_for(MINE_ON_CARDS, cards("0", count=1), [waiting], 1) is None


def test_now_waits_for_nobody() -> None:
    mine = Record(**{**MINE.__dict__, "now": True})
    assert queue.turn_for(mine, CPU, [other(1), other(2, RunState.QUEUED)], 1) == ()
    on_cards = Record(**{**MINE_ON_CARDS.__dict__, "now": True})
    assert queue.turn_for(on_cards, cards("0", count=1), [other(1, needs="cards", devices=("0",))], 1) == ("0",)


def test_a_server_takes_no_turn() -> None:
    plan = Plan("serve", ("a",), needs="nothing", devices=("0", "1"), device_count=1)
    assert queue.turn_for(other(5, needs="nothing"), plan, [other(1, needs="cards", devices=("0",))], 1) == ("0",)


def test_only_runs_with_a_living_keeper_count(tmp_path: Path) -> None:
    dead = replace(process.me(), started=process.me().started - 100)
    records = [other(1, keeper=process.me()), other(2, keeper=dead), other(3, RunState.SUCCEEDED, keeper=process.me())]
    for record in records:
        (tmp_path / record.id).mkdir()
        RunFolder(tmp_path / record.id).write(record)
    (tmp_path / "r4").mkdir()
    (tmp_path / "r4" / "state.json").write_text("{torn")
    assert [record.id for record in queue.living(tmp_path, besides="r9")] == ["r1"]
    assert queue.living(tmp_path, besides="r1") == []


def test_a_promised_port_is_not_given_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = queue.free_port(set())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", first))
    assert queue.free_port({first}, first=first) > first


def test_a_busy_port_is_passed_over() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        taken = busy.getsockname()[1]
        assert queue.free_port(set(), first=taken) > taken


def test_no_port_is_looked_for_past_the_last() -> None:
    with pytest.raises(OSError):
        queue.free_port(set(range(65_000, 65_536)), first=65_530)


def test_a_port_is_free_on_the_address_that_is_asked_for() -> None:
    with socket.socket() as other_address:
        other_address.bind(("127.0.0.2", 0))
        other_address.listen()
        taken = other_address.getsockname()[1]
        assert queue.free_port(set(), first=taken, host="127.0.0.2") != taken
    for nobodys in ("192.0.2.1", "bad..name"):  # the first is an address for documents
        with pytest.raises(OSError, match=nobodys):
            queue.free_port(set(), first=7860, host=nobodys)


def test_a_command_that_outlived_its_keeper_still_holds_its_place(tmp_path: Path) -> None:
    dead = replace(process.me(), started=process.me().started - 100)
    for number, child in ((1, process.me()), (2, dead)):
        record = other(number, keeper=dead, child=child, devices=("0",))
        (tmp_path / record.id).mkdir()
        RunFolder(tmp_path / record.id).write(record)
    assert [record.id for record in queue.living(tmp_path, besides="r9")] == ["r1"]
