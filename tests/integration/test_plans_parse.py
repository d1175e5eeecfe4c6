"""Every plan the product can build, read by the argument parser of the installed ms-swift."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from services.models.facts import facts_of
from services.plan import Plan, Slot
from services.planning.choose import advise
from services.planning.machine import described, device_of_description
from services.planning.packages import ALL
from services.planning.setup import Hardware
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.swift import commands
from services.swift.commands import Data, Source
from services.training import launch_of
from tests.real_parser import parse

ON_CPU_HERE = described({"host_memory_gib": 64, "cores": 8})
FOUR_CARDS = described(
    {"gpus": [{"name": "A100-SXM4-40GB", "memory_gib": 40, "count": 4}], "host_memory_gib": 512, "cores": 32}
)
CPU, CARDS = device_of_description(ON_CPU_HERE), device_of_description(FOUR_CARDS)
FACTS = facts_of(
    {"model_type": "llama", "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 8,
     "num_key_value_heads": 4, "intermediate_size": 1536, "vocab_size": 49152, "torch_dtype": "bfloat16"}
)  # fmt: skip
LOCAL = Source("/models/家 x", flags={"model_type": "llama", "template": "chatml"})
HUB = Source("Qwen/Qwen3-0.6B", local=False, use_hf=True)
ADAPTER = replace(LOCAL, adapter="/runs/a b/checkpoint-5")
SAMPLE = Data((Slot("{run}/sample.jsonl"), "/data/b.jsonl#50"), rows=100, settings={"load_from_cache_file": False})
FILLED = {"run": "/home/it's {port}/runs/a", "id": "20260101-000000-家", "port": "4321", "devices": "0,1"}
SYSTEM = "--say '$(x)'\n{run} 你好"
RESUME = "/runs/a b/output/v0-1/checkpoint-5"

METHODS: dict[str, dict[str, Any]] = {
    "lora": {"tuner_type": "lora", "lora_rank": 4, "lora_alpha": 8, "lora_dropout": 0.1},
    "full": {"tuner_type": "full"},
    "qlora": {"tuner_type": "lora", "quant_method": "bnb", "quant_bits": 4},
}
ON_CPU = ("single", "ddp", "zero2", "fsdp2")
ON_CARDS = (*ON_CPU, "zero0", "zero1", "zero3", "zero2_offload", "zero3_offload", "device_map", "ddp+device_map")


def plan_of(spec: TrainSpec, source: Source, hardware: Hardware, resume: str | None = None) -> Plan:
    launch = launch_of(advise(spec, FACTS, hardware, ALL, rows=100, here=False))
    device = device_of_description(hardware)
    return commands.train_plan(spec, launch, source, SAMPLE, device, "/py", resume).filled(FILLED)


def train_plans(command: Any) -> list[Plan]:
    plans = []
    hardware: Hardware
    strategy: Any
    for hardware, strategies, methods in (
        (ON_CPU_HERE, ON_CPU, ("lora", "full")), (FOUR_CARDS, ON_CARDS, tuple(METHODS)),
    ):  # fmt: skip
        for strategy, method, source, resume in product(strategies, methods, (LOCAL, HUB), (None, RESUME)):
            spec = TrainSpec(
                command=command, strategy=strategy, processes=None if strategy in ("single", "device_map") else 2,
                args={**METHODS[method], "system": SYSTEM, "num_train_epochs": 2.5, "weight_decay": 0.1},
            )  # fmt: skip
            if method == "qlora" and strategy == "ddp+device_map":
                continue  # refused: a quantized model cannot be spread in several processes
            plans.append(plan_of(spec, source, hardware, resume))
    return plans


def read(command: str, plans: list[Plan]) -> list[dict[str, Any]]:
    """What ms-swift reads from each plan; every one must be understood."""
    assert all(plan.argv[4] == command for plan in plans)
    answers = parse(command, [list(plan.argv[5:]) for plan in plans])
    assert [
        (plan.argv, answer["error"]) for plan, answer in zip(plans, answers, strict=True) if "error" in answer
    ] == []
    return [answer["ok"] for answer in answers]


@pytest.mark.parametrize("command", ["sft", "pt"])
def test_ms_swift_understands_every_training_plan(command: str) -> None:
    plans = train_plans(command)
    for plan, found in zip(plans, read(command, plans), strict=True):
        assert found["system"] == SYSTEM
        assert found["dataset"] == ["/home/it's {port}/runs/a/sample.jsonl", "/data/b.jsonl#50"]
        assert found["output_dir"] == plan.output_dir == "/home/it's {port}/runs/a/output"
        assert found["model"] in (LOCAL.model, HUB.model)
        assert found["resume_from_checkpoint"] in (None, RESUME)
        assert (found["num_train_epochs"], found["ignore_args_error"]) == (2.5, False)
        assert 1 <= float(found["save_steps"]) <= plan.total_steps / 10  # type: ignore[operator]
        if plan.needs == "cpu":
            assert (found["use_cpu"], found["fp16"], found["bf16"]) == (True, False, False)
            assert str(found["torch_dtype"]) == "float32"
            assert found["ddp_backend"] == ("gloo" if "NPROC_PER_NODE" in plan.env else None)


def test_ms_swift_understands_a_preference_training_plan() -> None:
    spec = TrainSpec(command="rlhf", args={"rlhf_type": "dpo", "beta": 0.1, "rpo_alpha": 0.2})
    found = read("rlhf", [plan_of(spec, LOCAL, ON_CPU_HERE)])
    assert (found[0]["rlhf_type"], found[0]["beta"]) == ("dpo", 0.1)


def test_megatron_understands_what_is_planned_for_it_whatever_the_spec_was_written_for() -> None:
    spec = TrainSpec(strategy="megatron", args={"learning_rate": 3e-5, "num_train_epochs": 2.5, "warmup_ratio": 0.05})
    plan = plan_of(spec, LOCAL, FOUR_CARDS)
    assert plan.argv[3:5] == ("swift.cli._megatron.main", "sft")
    found = parse("megatron sft", [list(plan.argv[5:])])[0]["ok"]
    assert (found["lr"], found["num_train_epochs"], found["lr_warmup_fraction"]) == (3e-5, 3, 0.05)
    assert found["global_batch_size"] % found["micro_batch_size"] == 0 and found["tuner_type"] == "lora"


def test_ms_swift_understands_every_merge_plan() -> None:
    sources = (ADAPTER, replace(HUB, adapter="/a"))
    plans = [
        commands.merge_plan(MergeSpec(adapter="a"), source, "/models/家 out", device, "/py").filled(FILLED)
        for source, device in product(sources, (CPU, CARDS))
    ]
    for plan, found in zip(plans, read("export", plans), strict=True):
        assert (found["merge_lora"], found["output_dir"]) == (True, "/models/家 out.partial")
        assert found["adapters"] in (["/runs/a b/checkpoint-5"], ["/a"])
        assert (str(found["torch_dtype"]) == "float32") == (plan.needs == "cpu")


def test_ms_swift_understands_every_plan_of_a_server() -> None:
    plans, engines = [], []
    for engine, device, source in product(("transformers", "vllm"), (CPU, CARDS), (LOCAL, HUB, ADAPTER)):
        spec = ServeSpec(model="m", engine=engine, tensor_parallel=2 if engine == "vllm" else 1)  # type: ignore[arg-type]
        plans.append(commands.serve_plan(spec, source, device, "/py").filled(FILLED))
        engines.append(engine)
    for engine, found in zip(engines, read("deploy", plans), strict=True):
        assert (found["host"], found["port"], found["served_model_name"]) == ("127.0.0.1", 4321, FILLED["id"])
        assert found["infer_backend"] == engine
        assert found["vllm_tensor_parallel_size"] == (2 if engine == "vllm" else 1)
