"""The hardware that is planned for: this machine, and one that a file describes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.errors import Refused
from services.hardware.cards import Card
from services.hardware.machine import Machine
from services.planning import machine as room
from services.planning.machine import (
    described,
    device_of_description,
    hardware_of,
    has_bf16,
    link_of,
    read_description,
    read_topology,
)
from services.runs import process
from services.text import explain

GIB = 1 << 30
CARD = Card(0, "NVIDIA A100-SXM4-40GB", "gpu", 0.0, 1 * GIB, 40 * GIB, (8, 0))
FOUR = {"gpus": [{"name": "A100-SXM4-40GB", "memory_gib": 40, "free_gib": 39.5}] * 4, "link": "nvlink",
        "host_memory_gib": 256, "cores": 64}  # fmt: skip
MATRIX = """\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m
GPU0\t X \tNV12\t{a}\tSYS\tPXB\t0-31\t0
GPU1\tNV12\t X \tSYS\tSYS\tPXB\t0-31\t0
GPU2\t{a}\tSYS\t X \tPIX\tSYS\t32-63\t1
GPU3\tSYS\tSYS\tPIX\t X \tSYS\t32-63\t1
NIC0\tPXB\tPXB\tSYS\tSYS\t X \t\t

Legend:
  X    = Self
"""


def test_this_machine_is_read_as_planning_sees_it(machine: Machine) -> None:
    busy = replace(CARD, index=5, memory_used=30 * GIB, name="NVIDIA H20", capability=(9, 0))
    found = hardware_of(replace(machine, cards=(CARD, busy)))
    assert [(gpu.index, gpu.memory_gib, gpu.free_gib, gpu.has_bf16) for gpu in found.gpus] == [
        ("0", 40, 39, True), ("5", 40, 10, True),
    ]  # fmt: skip
    assert (found.host_memory_gib, found.host_free_gib, found.cores, found.disk_free_gib) == (8, 6, 4, 50)
    assert not found.on_cpu and hardware_of(machine).on_cpu


def test_the_driver_knows_better_than_a_name_what_a_card_can_do(machine: Machine) -> None:
    card = replace(CARD, name="Some new card", capability=(7, 5))
    assert not hardware_of(replace(machine, cards=(card,))).gpus[0].has_bf16
    assert hardware_of(replace(machine, cards=(replace(card, capability=None),))).gpus[0].has_bf16


@pytest.mark.parametrize(
    ("name", "bf16"),
    [
        ("Tesla V100-SXM2-32GB", False), ("Tesla T4", False), ("Tesla P100-PCIE-16GB", False), ("P40", False),
        ("NVIDIA GeForce RTX 2080 Ti", False), ("NVIDIA GeForce GTX 1080", False), ("Quadro RTX 6000", False),
        ("NVIDIA TITAN RTX", False), ("Ascend 910A", False), ("NVIDIA A100-SXM4-80GB", True), ("NVIDIA H200", True),
        ("NVIDIA GeForce RTX 3090", True), ("NVIDIA GeForce RTX 4060 Ti", True), ("NVIDIA L4", True),
        ("NVIDIA RTX A6000", True), ("NVIDIA RTX 6000 Ada Generation", True),
        ("NVIDIA RTX 4000 SFF Ada Generation", True), ("NVIDIA GeForce RTX 5090", True), ("Ascend 910B3", True),
        ("NVIDIA A40", True),
    ],
)  # fmt: skip
def test_a_card_tells_by_its_name_whether_it_has_bfloat16(name: str, bf16: bool) -> None:
    assert has_bf16(name) is bf16


@pytest.mark.parametrize(
    ("cards", "cell", "link"),
    [
        ([0, 1], "SYS", "nvlink"), ([2, 3], "SYS", "pcie"), ([0, 1, 2, 3], "SYS", "system"), ([0, 2], "NODE", "pcie"),
        ([0], "SYS", ""), ([], "SYS", ""),
    ],
)  # fmt: skip
def test_the_slowest_pair_says_how_the_cards_are_linked(cards: list[int], cell: str, link: str) -> None:
    assert link_of(MATRIX.replace("{a}", cell), cards) == link
    assert link_of("", cards) == ""


def test_the_topology_is_asked_once_and_only_where_there_is_one(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(argv: list[str], **_: Any) -> process.Result:
        asked.append(argv)
        return process.Result(0, MATRIX)

    monkeypatch.setattr(process, "run", run)
    monkeypatch.setattr(room, "_topologies", {})
    assert read_topology(machine) == read_topology(replace(machine, cards=(CARD,))) == ""
    two = replace(machine, cards=(CARD, replace(CARD, index=1)))
    assert read_topology(two) == read_topology(two) == MATRIX
    assert asked == [["nvidia-smi", "topo", "-m"]]
    assert hardware_of(two, MATRIX.replace("{a}", "SYS")).link == "nvlink"


def test_a_described_machine_is_read_from_json(tmp_path: Path) -> None:
    path = tmp_path / "四卡.json"
    path.write_text(json.dumps(FOUR))
    found = read_description(path)
    assert [gpu.index for gpu in found.gpus] == ["0", "1", "2", "3"]
    assert (found.gpus[0].free_gib, found.link, found.cores, found.nodes) == (39.5, "nvlink", 64, 1)
    assert (found.host_memory_gib, found.disk_free_gib) == (256, None)


def test_a_description_may_be_short_and_hold_notes() -> None:
    gpus = [{"name": "Ascend 910B3", "memory_gib": 64, "count": 8, "note": "x"}]
    found = described({"gpus": gpus, "link": "PCIe 4.0", "host_memory_gib": 64, "cores": 8, "nodes": 2,
                       "disk_free_gib": 100, "owner": "me"})  # fmt: skip
    assert len(found.gpus) == 8 and found.gpus[7].free_gib == 64 and found.gpus[0].kind == "npu"
    assert (found.link, found.nodes, found.disk_free_gib) == ("pcie", 2, 100)
    assert described({"host_memory_gib": 8, "cores": 2}).on_cpu


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("cores", {"cores": None}), ("cores", {"cores": 0}), ("host_memory_gib", {"host_memory_gib": "much"}),
        ("gpus.0.memory_gib", {"gpus": [{"name": "x", "memory_gib": -1}]}),
        ("gpus.0.name", {"gpus": [{"memory_gib": 8}]}),
        ("gpus.0", {"gpus": [{"name": "x", "memory_gib": 8, "free_gib": 9}]}),
        ("gpu", {"gpu": []}), ("gpus", {"gpus": 4}), ("nodes", {"nodes": 0}),
        ("memory_gb", {"gpus": [{"name": "x", "memory_gib": 8, "memory_gb": 8}]}),
        ("free", {"gpus": [{"name": "x", "memory_gib": 8, "free": 7}]}),
        ("gpus", {"gpus": {"name": "x", "memory_gib": 8}}), ("cores", {"cores": True}),
        ("gpus.0.kind", {"gpus": [{"name": "x", "memory_gib": 8, "kind": "tpu"}]}),
        ("host_free_gib", {"host_free_gib": 500}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_description_is_named(field: str, change: dict[str, Any]) -> None:
    with pytest.raises(Refused) as caught:
        described({**FOUR, **change})
    assert (caught.value.code, caught.value.values["field"]) == ("machine_field", field)
    assert explain(caught.value, "en") != explain(caught.value, "zh")


def test_a_description_may_say_what_kind_a_card_is() -> None:
    card = {"name": "X1", "memory_gib": 64}
    told = described({"gpus": [{**card, "kind": "npu"}], "host_memory_gib": 64, "cores": 8})
    assert told.gpus[0].kind == "npu" and device_of_description(told).visible_variable == "ASCEND_RT_VISIBLE_DEVICES"
    assert described({"gpus": [card], "host_memory_gib": 64, "cores": 8}).gpus[0].kind == "gpu"


@pytest.mark.parametrize("text", ["", "[]", "{", "4", '"x"'])
def test_a_file_that_describes_no_machine_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(Refused, match="machine_unreadable"):
        read_description(path)
    with pytest.raises(Refused, match="machine_unreadable"):
        read_description(tmp_path / "none.json")
