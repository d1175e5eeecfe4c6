"""What a spec says of where it runs: nodes, targets, the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from services.errors import Refused
from services.settings import Settings
from services.specs import TrainSpec, as_yaml, train_spec
from services.target_specs import Network, Node, Ssh, node, nodes
from services.targets import network, placement
from services.text import WORDS, explain
from tests.target_plans import PLAN, spec

# ── nodes ──


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("b", Node(host="b")),
        ("ann@b:2222 slots=8", Node(host="b", user="ann", port=2222, slots=8)),
        ("10.0.0.7 interface=ib0 name=B", Node(host="10.0.0.7", interface="ib0", name="B")),
        ("ann@[fe80::1]:22", Node(host="fe80::1", user="ann", port=22)),
        ("b python=/opt/td/bin/python address=192.168.0.2", Node(host="b", python="/opt/td/bin/python",
                                                                  address="192.168.0.2")),
    ],
)  # fmt: skip
def test_a_line_of_a_hostfile_is_read_and_written_again(line: str, expected: Node) -> None:
    assert node(line) == expected
    assert node(expected.line) == expected


@pytest.mark.parametrize(
    "line",
    ["-oProxyCommand=x", "a b", "a;reboot", "a slots=", "a slots=many", "a slots=0", "a colour=red", "a:99999", "$(x)"],
)
def test_a_line_that_names_no_node_is_refused_with_the_word_that_is_wrong(line: str) -> None:
    with pytest.raises(Refused) as caught:
        node(line)
    assert caught.value.code == "node_unreadable"
    assert line in explain(caught.value, "en")


def test_comments_and_empty_lines_of_a_hostfile_are_no_nodes() -> None:
    assert [one.host for one in nodes(["# two", "", "a slots=2  # first", "b"])] == ["a", "b"]


@pytest.mark.parametrize(("lines", "code"), [(["# none"], "nodes_none"), (["a", "a slots=2"], "node_twice")])
def test_a_hostfile_without_nodes_or_with_one_twice_is_refused(lines: list[str], code: str) -> None:
    with pytest.raises(Refused) as caught:
        nodes(lines)
    assert caught.value.code == code


def test_the_name_of_a_hostfile_in_a_spec_becomes_its_lines(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, starter=tmp_path, roots=(tmp_path,))
    (tmp_path / "hosts").write_text("a slots=2\nb\n")
    settled = placement.settled(Ssh(kind="ssh", nodes=str(tmp_path / "hosts")), settings)
    assert isinstance(settled, Ssh) and settled.nodes == ("a slots=2", "b")
    (tmp_path / "picture").write_bytes(b"\xff\xfe")
    for name in ("none", "/etc/hosts", "picture"):
        with pytest.raises(Refused) as caught:
            placement.settled(Ssh(kind="ssh", nodes=str(tmp_path / name)), settings)
        assert caught.value.code == ("hostfile_unreadable" if name == "picture" else "path_not_found")


# ── the spec ──


@pytest.mark.parametrize(
    "target",
    [
        {"kind": "ssh", "nodes": ["a slots=2", "b"], "node_timeout_s": 30.0},
        {"kind": "slurm", "partition": "gpu", "nodes": 2, "time": "1-00:00:00", "options": ["--exclusive"]},
        {"kind": "kubernetes", "nodes": 2, "gpus": 8, "image": "r/i:1"},
    ],
)
def test_a_target_survives_the_way_through_yaml(target: dict[str, Any]) -> None:
    made = train_spec({"target": target, "network": {"interface": "eth0", "p2p": False}, "max_restarts": 2})
    assert train_spec(yaml.safe_load(as_yaml(made.flat()))) == made
    assert made.flat()["target"] == target


@pytest.mark.parametrize("word", ["here", "slurm", "accelerate", "dlc", "kubernetes", "ray"])
def test_a_target_can_be_one_word(word: str) -> None:
    assert train_spec({"target": word}).target.kind == word


def test_nodes_may_be_mappings() -> None:
    made = train_spec({"target": {"kind": "ssh", "nodes": [{"host": "a", "user": "ann", "port": 22, "slots": 2}]}})
    assert isinstance(made.target, Ssh) and made.target.nodes == ("ann@a:22 slots=2",)


@pytest.mark.parametrize("field", ["partition", "time", "memory"])
def test_what_would_be_a_line_of_its_own_in_a_slurm_script_is_refused(field: str) -> None:
    with pytest.raises(Refused):
        train_spec({"target": {"kind": "slurm", field: "gpu\n#SBATCH --uid=0"}})
    with pytest.raises(Refused):
        train_spec({"target": {"kind": "slurm", "options": ["exclusive"]}})


def test_what_the_spec_does_not_say_of_targets_is_not_in_it() -> None:
    assert not {"target", "network", "max_restarts"} & TrainSpec().flat().keys()


# ── the network ──


def test_every_network_field_has_a_label_and_a_help_in_both_languages() -> None:
    assert set(network.FIELDS) == set(Network.model_fields)
    for field in network.FIELDS:
        assert all(WORDS[f"targets.network.{field}"]) and all(WORDS[f"targets.network.{field}.help"])


def test_network_fields_become_the_variables_of_nccl_gloo_and_torch() -> None:
    assert network.environment(Network()) == {}
    asked = Network(interface="eth0", infiniband=False, p2p=True, nvlink_sharp=False, timeout_s=900, debug="TRACE")
    assert network.environment(asked) == {
        "GLOO_SOCKET_IFNAME": "eth0", "NCCL_SOCKET_IFNAME": "eth0", "NCCL_IB_DISABLE": "1", "NCCL_P2P_DISABLE": "0",
        "NCCL_NVLS_ENABLE": "0", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "900", "NCCL_DEBUG": "TRACE",
        "TORCH_DISTRIBUTED_DEBUG": "DETAIL",
    }  # fmt: skip
    assert network.environment(Network(interface="^lo,docker0")) == {"NCCL_SOCKET_IFNAME": "^lo,docker0"}


def test_network_settings_apply_to_a_run_on_this_machine_and_the_spec_s_own_variables_win() -> None:
    asked = spec(network=Network(debug="INFO", interface="eth0"), env={"NCCL_DEBUG": "WARN"})
    env = placement.placed(placement.of_node(PLAN, asked), asked).env
    assert env["NCCL_DEBUG"] == "WARN" and env["GLOO_SOCKET_IFNAME"] == "eth0"
