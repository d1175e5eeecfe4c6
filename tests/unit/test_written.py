"""Scripts for places that cannot be reached from here."""

from __future__ import annotations

import shlex

import pytest
import yaml

from services.specs import train_spec
from services.target_specs import Written
from services.targets import written
from tests.target_plans import PLAN, expect_bash, spec


def command_in(text: str, program: str) -> list[str]:
    """The words of the command in a script that begins with ``program``."""
    body = text[text.index(f"\n{program}") :]
    return shlex.split(body)


@pytest.mark.parametrize("kind", written.KINDS)
@pytest.mark.parametrize("nodes_asked", [1, 2])
def test_what_is_written_out_can_be_read_and_says_that_it_was_not_run(kind: str, nodes_asked: int) -> None:
    target = {"kind": kind, "nodes": nodes_asked, "gpus": 8}
    files = written.written(PLAN, train_spec({"target": target, "name": "My run"}), kind)
    for name, text in files.items():
        if name.endswith((".sh", ".sbatch")):
            expect_bash(text)
        if name.endswith(".yaml"):
            assert list(yaml.safe_load_all(text))
        if name.endswith(".py"):
            compile(text, name, "exec")
        if not name.endswith(".jsonl"):
            assert written.NOT_RUN in text
            assert "{run}" not in text and "save_on_stop" not in text


def test_accelerate_gets_a_configuration_and_the_module() -> None:
    target = Written(kind="accelerate", nodes=2, gpus=8)
    files = written.written(PLAN, spec(target=target), "accelerate")
    config = yaml.safe_load(files["accelerate.yaml"])
    assert (config["num_machines"], config["num_processes"], config["distributed_type"]) == (2, 4, "MULTI_GPU")
    words = command_in(files["accelerate.sh"], "accelerate launch")
    assert words[words.index("-m") + 1] == "swift.cli.sft"
    assert words[words.index("--system") + 1] == "it's $HOME"


def test_a_pytorch_job_has_a_master_and_workers_with_cards_and_the_run_s_files() -> None:
    target = Written(kind="kubernetes", nodes=3, gpus=8, image="r/i:1", namespace="ml")
    text = written.written(PLAN, spec(target=target, name="Ä b"), "kubernetes")["pytorchjob.yaml"]
    config, job = yaml.safe_load_all(text)
    assert config["data"] == {"sample.jsonl": '{"a": "b"}\n'} and job["metadata"] == {"name": "b", "namespace": "ml"}
    replicas = job["spec"]["pytorchReplicaSpecs"]
    assert {name: one["replicas"] for name, one in replicas.items()} == {"Master": 1, "Worker": 2}
    container = replicas["Worker"]["template"]["spec"]["containers"][0]
    assert container["image"] == "r/i:1" and container["resources"]["limits"] == {"nvidia.com/gpu": 8}
    assert container["args"][:2] == ["swift", "sft"] and "it's $HOME" in container["args"]
    for name, value in (("NPROC_PER_NODE", "2"), ("NNODES", "3")):
        assert {"name": name, "value": value} in container["env"]
    assert f"{written.SHARED}/b/output" in container["args"]


def test_dlc_maps_its_variables_to_those_that_ms_swift_reads() -> None:
    files = written.written(PLAN, spec(target=Written(kind="dlc", nodes=2, gpus=8)), "dlc")
    assert "export NNODES=$WORLD_SIZE NODE_RANK=$RANK" in files["dlc.sh"]
    assert "--workers=2" in command_in(files["submit.sh"], "dlc submit")
    assert command_in(files["dlc.sh"], "swift sft")[-1] == f"{written.RUN}/output"


def test_ray_is_given_the_command_behind_the_variables() -> None:
    files = written.written(PLAN, spec(target=Written(kind="ray", nodes=2, gpus=8, address="http://h:8265")), "ray")
    words = command_in(files["ray_job.sh"], "ray job submit")
    assert "--address=http://h:8265" in words
    rest = words[words.index("ray_nodes.py") :]
    assert rest[:6] == ["ray_nodes.py", "--nodes", "2", "--gpus", "8", "--"] and "NPROC_PER_NODE=2" in rest
    assert rest[rest.index("swift") :][:2] == ["swift", "sft"]
