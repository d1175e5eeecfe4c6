"""Several nodes as one run: signs of life, a checkpoint on its way, the lead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.runs.folder import RunFolder
from services.target_specs import nodes
from services.targets.lead import CAUSE_S, Lead
from services.targets.parcel import Parcel, parcel_of
from services.targets.pulse import BEATS, Pulse
from tests.target_plans import Clock

# ── signs of life ──


@pytest.mark.parametrize(("timeout_s", "patience_s"), [(5, 2.5), (8, 5), (10, 7), (20, 15), (60, 45)])
def test_the_other_side_is_lost_within_the_timeout_with_time_to_end_everything(
    timeout_s: float, patience_s: float
) -> None:
    clock = Clock()
    pulse = Pulse(timeout_s, clock)
    clock.now += patience_s - 0.1
    assert not pulse.lost
    pulse.hear()
    clock.now += patience_s - 0.1
    assert not pulse.lost
    clock.now += 0.2
    assert pulse.lost and pulse.silent_s < timeout_s


def test_signs_of_life_come_often_enough_that_some_may_be_late() -> None:
    clock = Clock()
    pulse = Pulse(20.0, clock)
    given = 0
    for _ in range(200):
        given += pulse.due()
        clock.now += 0.1
    assert BEATS <= given <= BEATS + 1


# ── a checkpoint on its way ──


def test_only_what_a_node_lacks_of_a_checkpoint_is_sent_and_arrives_whole(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "sub").mkdir(parents=True)
    there.mkdir()
    big = bytes(range(256)) * 10_000
    for name, data in (("a", b"same"), ("sub/b", big), ("empty", b"")):
        (here / name).write_bytes(data)
    (there / "a").write_bytes(b"same")
    sent, wanted = parcel_of(here), Parcel(str(there), parcel_of(here).sizes)
    assert sorted(wanted.missing()) == ["empty", "sub/b"]
    for name in wanted.missing():
        assert [wanted.take(piece) for piece in sent.pieces(name)][-1]
    assert wanted.missing() == [] and (there / "sub/b").read_bytes() == big
    with pytest.raises(KeyError):
        wanted.take({"put": "../out", "data": "", "last": True})


# ── the lead ──


def lead_of(
    tmp_path: Path, lines: list[str], facts: list[dict[str, Any]], env: dict[str, str], said: list[bytes]
) -> Lead:
    """A lead whose nodes have said that they are ready, before it lets them go."""
    folder = RunFolder(tmp_path)
    folder.attempt(1).mkdir(parents=True)
    made = Lead(folder, 1, nodes(lines), env, ("py",), timeout_s=20, clock=Clock(), say=said.append)
    for member, ready in zip(made.members, facts, strict=True):
        member.ready = {"port": 4000 + member.rank, "address": "", "came_from": "", "devices": {}, **ready}
        member.outbox = Told()  # type: ignore[assignment]
    return made


class Told(list[dict[str, Any]]):
    """What a node was told."""

    def put(self, message: dict[str, Any]) -> None:
        self.append(message)


def variables_of(made: Lead) -> list[dict[str, str]]:
    return [member.outbox[0]["go"] for member in made.members]  # type: ignore[index]


FACTS = [
    {"address": "10.0.0.1", "came_from": "10.0.0.9", "devices": {"lo": ["127.0.0.1"], "eth0": ["10.0.0.1"]}},
    {"address": "10.0.0.2", "came_from": "10.0.0.9", "devices": {"ens3": ["10.0.0.2"]}},
]


def test_the_nodes_meet_at_the_first_one_s_address_and_talk_over_the_device_that_has_their_own(tmp_path: Path) -> None:
    made = lead_of(tmp_path, ["a", "b"], FACTS, {}, [])
    made.go()
    first, second = variables_of(made)
    expected = {"MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "4000", "NNODES": "2", "TUNEDESK_NODES": "2"}
    assert expected.items() <= first.items() and expected.items() <= second.items()
    assert (first["NODE_RANK"], second["NODE_RANK"]) == ("0", "1")
    assert (first["GLOO_SOCKET_IFNAME"], second["NCCL_SOCKET_IFNAME"]) == ("eth0", "ens3")


def test_this_machine_is_met_where_the_others_were_reached_from(tmp_path: Path) -> None:
    here = {"devices": {"eth7": ["10.0.0.9"]}}
    made = lead_of(tmp_path, ["here", "b"], [here, FACTS[1]], {}, [])
    made.go()
    assert variables_of(made)[1]["MASTER_ADDR"] == "10.0.0.9"
    assert variables_of(made)[0]["GLOO_SOCKET_IFNAME"] == "eth7"


def test_what_the_person_says_of_addresses_and_devices_wins(tmp_path: Path) -> None:
    made = lead_of(tmp_path, ["a address=192.168.0.1", "b interface=ib0"], FACTS, {"NCCL_SOCKET_IFNAME": "bond0"}, [])
    made.go()
    first, second = variables_of(made)
    assert first["MASTER_ADDR"] == "192.168.0.1" and "NCCL_SOCKET_IFNAME" not in first
    assert second["NCCL_SOCKET_IFNAME"] == "ib0"


def test_a_single_process_on_another_machine_is_no_torchrun(tmp_path: Path) -> None:
    made = lead_of(tmp_path, ["b"], FACTS[1:], {}, [])
    made.go()
    assert "NNODES" not in variables_of(made)[0]


def test_a_node_that_fails_is_the_cause_only_when_no_other_turns_out_to_be_lost(tmp_path: Path) -> None:
    made = lead_of(tmp_path, ["a", "b"], FACTS, {}, said := [])
    clock = made.clock
    made.go()
    made.take(0, {"exit": 1})
    assert not made.settled()
    made.take(1, None)
    assert made.settled()
    assert [one.state for one in made.members] == ["failed", "lost"]
    assert b"[tunedesk] node b lost: the connection to it ended\n" in said
    other = lead_of(tmp_path / "other", ["a", "b"], FACTS, {}, [])
    other.take(0, {"exit": 3})
    assert not other.settled()
    assert isinstance(other.clock, Clock) and isinstance(clock, Clock)
    other.clock.now += CAUSE_S + 0.1
    assert other.settled() and other.members[0].exit_code == 3


def test_the_first_node_s_output_is_the_run_s_and_the_others_end_is_quoted_when_they_fail(tmp_path: Path) -> None:
    made = lead_of(tmp_path, ["a", "b"], FACTS, {}, said := [])
    made.take(0, {"log": "Train:  10%|█".encode().decode("latin-1")})
    made.take(1, {"log": "half a"})
    made.take(1, {"log": " line\nValueError: no\n"})
    assert b"".join(said).decode() == "Train:  10%|█"
    assert (tmp_path / "attempts/1/node-1.log").read_text() == "half a line\nValueError: no\n"
    made.take(1, {"exit": 1})
    quoted = "[node b] half a line\n[node b] ValueError: no\n[tunedesk] node b ended with exit code 1\n"
    assert b"".join(said).decode() == "Train:  10%|█\n" + quoted
