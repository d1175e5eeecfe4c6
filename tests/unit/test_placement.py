"""One node's plan becomes the plan of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.bootstrap import Services
from services.errors import Refused
from services.plan import Slot
from services.specs import TrainSpec, train_spec
from services.target_specs import HERE, Slurm, Ssh, nodes
from services.targets import placement
from tests.target_plans import COMMAND, PLAN, TWO, spec


def test_the_plan_for_nodes_names_each_and_ends_in_one_node_s_command() -> None:
    plan = placement.placed(PLAN, spec(target=TWO))
    words = list(plan.argv)
    split = words.index("--")
    assert words[1:4] == ["-P", "-m", "services.targets.lead"]
    named = [words[index + 1] for index, word in enumerate(words) if word == "--node"]
    assert named == [one.line for one in nodes(list(TWO.nodes))]
    assert tuple(words[split + 1 :]) == COMMAND
    assert words[words.index("--env") + 1] == "NPROC_PER_NODE,OMP_NUM_THREADS"
    assert isinstance(words[-1], Slot) and plan.filled({"run": "/r"}).argv[-1] == "/r/output"
    assert plan.env == {"NPROC_PER_NODE": "2", "OMP_NUM_THREADS": "1"}
    assert plan.processes == 2 + 4 and plan.needs == "nothing"


@pytest.mark.parametrize("target", [TWO, Slurm(kind="slurm", nodes=2)])
def test_one_node_s_command_is_found_again_in_a_plan_for_several(target: Ssh | Slurm) -> None:
    part = placement.node_part(placement.placed(PLAN, spec(target=target)))
    assert part.argv == PLAN.argv and isinstance(part.argv[-1], Slot)
    assert part.env == {"NPROC_PER_NODE": "2", "OMP_NUM_THREADS": "1"}
    assert placement.node_part(PLAN) == PLAN


def test_a_plan_that_uses_this_machine_too_waits_for_its_turn_here() -> None:
    target = Ssh(kind="ssh", nodes=("here", "b"))
    assert placement.placed(PLAN, spec(target=target)).needs == PLAN.needs


def test_a_target_with_cards_of_its_own_is_planned_for_those(services: Services) -> None:
    target = Ssh(kind="ssh", nodes=("a", "b"), gpus=4)
    prepared = services.trainings.prepare(TrainSpec(target=target, strategy="ddp"))
    assert prepared.plan.env["NPROC_PER_NODE"] == "4" and prepared.plan.processes == 8
    assert "CUDA_VISIBLE_DEVICES" not in prepared.plan.env
    chosen = services.trainings.prepare(TrainSpec(target=target, strategy="ddp", devices=("1", "3")))
    assert chosen.plan.env["CUDA_VISIBLE_DEVICES"] == "1,3" and chosen.plan.processes == 4
    assert "--use_cpu" not in prepared.plan.argv


def test_two_nodes_on_cpus_talk_over_gloo_and_count_both_for_steps_and_batch(services: Services) -> None:
    one = services.trainings.prepare(TrainSpec(processes=1))
    two = services.trainings.prepare(TrainSpec(processes=1, target=TWO.model_copy(update={"nodes": ("a", "b")})))
    assert two.total_batch == 2 * one.total_batch
    assert two.plan.total_steps and one.plan.total_steps and two.plan.total_steps <= one.plan.total_steps // 2 + 1
    words = two.plan.argv
    assert words[words.index("--ddp_backend") + 1] == "gloo"
    assert not {"GLOO_SOCKET_IFNAME", "MASTER_PORT"} & two.plan.env.keys()


def test_a_run_can_go_on_elsewhere_by_one_word(tmp_path: Path) -> None:
    assert placement.retarget(TWO, "here") == HERE
    kept = placement.retarget(Ssh(kind="ssh", nodes=("a", "b"), node_timeout_s=9), "ann@c,d")
    assert isinstance(kept, Ssh) and kept.nodes == ("ann@c", "d") and kept.node_timeout_s == 9
    (tmp_path / "hosts").write_text("x\n")
    found = placement.retarget(HERE, str(tmp_path / "hosts"))
    assert isinstance(found, Ssh) and [one.host for one in placement.nodes_of(found)] == ["x"]


@pytest.mark.parametrize("kind", ["accelerate", "dlc", "kubernetes", "ray"])
def test_a_target_that_is_only_written_is_not_started(services: Services, kind: str) -> None:
    with pytest.raises(Refused) as caught:
        services.trainings.start(train_spec({"target": kind}))
    assert caught.value.code == "target_only_written" and services.runs.list() == []
