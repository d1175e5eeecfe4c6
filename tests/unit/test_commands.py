"""From a spec to the words for ms-swift, on a CPU and on cards."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from services.errors import Refused
from services.plan import Plan, Slot
from services.specs import MergeSpec, ServeSpec, TrainSpec
from services.swift import commands
from services.swift.commands import Data, Device, Launch, Source
from tests.unit.test_plan import AWKWARD

CPU = Device(cores=4)
CARDS = Device(cards=("0", "1", "2", "3"), cores=32)
MODEL = Source("/models/m", flags={"model_type": "llama", "template": "chatml"})
DATA = Data((Slot("{run}/sample.jsonl"),), rows=100)


def plan(
    device: Device = CPU,
    source: Source = MODEL,
    data: Data = DATA,
    resume: str | None = None,
    strategy: str = "single",
    ranks: int = 1,
    command: str = "sft",
    nodes: int = 1,
    settings: dict[str, Any] | None = None,
    **spec: Any,
) -> Plan:
    """The plan of a launch as services/planning hands it over; the batch is 4 rows a rank."""
    launch = Launch(command, strategy, ranks, {"per_device_train_batch_size": 4, **(settings or {})}, nodes)
    return commands.train_plan(TrainSpec(**spec), launch, source, data, device, "/py", resume)


def values(found: Plan) -> dict[str, list[str]]:
    """Each ``--name`` of a plan with the words behind it."""
    options: dict[str, list[str]] = {}
    name = ""
    for word in found.argv[5:]:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            options[name] = [value] if equals else []
        else:
            options[name].append(word)
    return options


def test_swift_is_started_by_its_module_and_never_by_a_name_on_the_path() -> None:
    assert plan().argv[:5] == ("/py", "-P", "-m", "swift.cli.main", "sft")
    assert plan(command="pt").argv[4] == "pt"
    assert plan(command="rlhf", settings={"rlhf_type": "dpo"}).argv[4] == "rlhf"


def test_megatron_is_started_by_its_own_module_through_torchrun() -> None:
    sizes = {"tensor_model_parallel_size": 2, "global_batch_size": 16, "tuner_type": "lora"}
    found = plan(CARDS, command="megatron sft", strategy="megatron", ranks=4, settings=sizes)
    assert found.argv[:5] == ("/py", "-P", "-m", "swift.cli._megatron.main", "sft")
    assert found.env["NPROC_PER_NODE"] == "4" and found.device_count == 4
    assert not {"check_model", "callbacks", "external_plugins", "ddp_backend"} & values(found).keys()
    assert found.total_steps == 6  # 100 rows in whole batches of 16


# ranks and strategies


@pytest.mark.parametrize(
    ("launch", "flags", "ranks"),
    [
        ({}, {}, None),
        ({"strategy": "ddp", "ranks": 2}, {"ddp_backend": ["gloo"]}, "2"),
        ({"strategy": "ddp", "ranks": 1, "nodes": 2}, {"ddp_backend": ["gloo"]}, "1"),
        (
            {"strategy": "zero2", "settings": {"deepspeed": "zero2"}},
            {"ddp_backend": ["gloo"], "deepspeed": ["zero2"]},
            "1",
        ),
        (
            {"strategy": "fsdp2", "ranks": 2, "settings": {"fsdp": "fsdp2"}},
            {"ddp_backend": ["gloo"], "fsdp": ["fsdp2"]},
            "2",
        ),
    ],
)
def test_on_a_cpu_the_ranks_talk_over_gloo(launch: dict[str, Any], flags: dict[str, Any], ranks: str | None) -> None:
    found = plan(**launch)
    options = values(found)
    assert {name: options.get(name) for name in flags} == flags
    assert ("ddp_backend" in options) == (ranks is not None)
    assert found.env.get("NPROC_PER_NODE") == ranks
    if ranks is not None:
        assert found.env["MASTER_PORT"] == Slot("{port}") and isinstance(found.env["MASTER_PORT"], Slot)
        assert int(found.env["OMP_NUM_THREADS"]) * int(ranks) <= 4
    assert (found.needs, found.devices) == ("cpu", ())


@pytest.mark.parametrize(
    ("launch", "spec", "ranks", "taken"),
    [
        ({"strategy": "single"}, {}, None, 1),
        ({"strategy": "ddp", "ranks": 4}, {}, "4", 4),
        ({"strategy": "ddp", "ranks": 2}, {"devices": ["1", "3"]}, "2", 2),
        ({"strategy": "device_map"}, {}, None, 4),
        ({"strategy": "device_map"}, {"devices": ["2", "3"]}, None, 2),
        ({"strategy": "ddp+device_map", "ranks": 2}, {}, "2", 4),
        ({"strategy": "zero3", "ranks": 1, "settings": {"deepspeed": "zero3"}}, {"devices": ["0"]}, "1", 1),
    ],
)
def test_on_cards_a_run_takes_one_card_a_rank(
    launch: dict[str, Any], spec: dict[str, Any], ranks: str | None, taken: int
) -> None:
    found = plan(CARDS, **launch, **spec)
    assert (found.needs, found.device_count, found.env.get("NPROC_PER_NODE")) == ("cards", taken, ranks)
    assert found.devices == tuple(spec.get("devices", CARDS.cards))
    assert found.env["CUDA_VISIBLE_DEVICES"] == "{devices}"
    assert not {"use_cpu", "ddp_backend", "torch_dtype"} & values(found).keys()


@pytest.mark.parametrize("name", ["deepspeed", "fsdp"])
def test_a_configuration_of_ones_own_becomes_a_file_of_the_run(name: str) -> None:
    config = {"zero_optimization": {"stage": 2, "reduce_bucket_size": 2e8}}
    found = plan(CARDS, strategy="zero2", ranks=2, settings={name: config})
    assert json.loads(found.files[f"{name}.json"]) == config
    assert values(found)[name] == ["{run}/" + f"{name}.json"]
    filled = found.filled({"run": "/r", "id": "i", "port": "1", "devices": ""})
    assert f"/r/{name}.json" in filled.argv


def test_npus_have_a_variable_and_a_backend_of_their_own() -> None:
    found = plan(replace(CARDS, kind="npu"), strategy="ddp", ranks=4)
    assert "ASCEND_RT_VISIBLE_DEVICES" in found.env and "CUDA_VISIBLE_DEVICES" not in found.env
    assert values(found)["ddp_backend"] == ["hccl"]
    assert "ddp_backend" not in values(plan(replace(CARDS, kind="npu")))


def test_a_card_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match="card_not_there"):
        plan(CARDS, devices=["7"])


# settings


def test_every_setting_is_on_the_command_line() -> None:
    given = {"learning_rate": 5e-5, "save_steps": 7, "torch_dtype": "bfloat16", "output_dir": "/out", "lora_rank": 64}
    options = values(plan(settings=given))
    assert options["learning_rate"] == ["5e-05"] and options["save_steps"] == ["7"]
    assert (options["torch_dtype"], options["lora_rank"]) == (["bfloat16"], ["64"])
    assert plan(settings=given).output_dir == "/out"
    env = plan(strategy="ddp", ranks=2, env={"MASTER_PORT": "1", "X": "{port}"}).env
    assert env["MASTER_PORT"] == "1"


def test_a_hub_model_names_its_hub_and_a_local_one_is_not_looked_up() -> None:
    assert values(plan())["check_model"] == ["false"]
    hub = values(plan(source=Source("Qwen/Qwen3-0.6B", local=False, use_hf=True)))
    assert hub["use_hf"] == ["true"] and "check_model" not in hub and "model_type" not in hub


@pytest.mark.parametrize(
    ("rows", "args", "processes", "steps"),
    [
        (100, {}, 1, 25),
        (101, {}, 1, 26),
        (100, {}, 2, 13),
        (100, {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16}, 1, 7),
        (3, {"gradient_accumulation_steps": 16}, 1, 1),
        (100, {"num_train_epochs": 2.5}, 1, 63),
        (100, {"max_steps": 9}, 1, 9),
        (None, {"max_steps": 9}, 1, 9),
        (None, {}, 1, None),
    ],
)
def test_steps_are_counted_as_the_trainer_counts_them(
    rows: int | None, args: dict[str, Any], processes: int, steps: int | None
) -> None:
    found = plan(data=Data(("a.jsonl",), rows=rows), strategy="ddp", ranks=processes, settings=args)
    assert found.total_steps == steps


def test_ranks_that_share_a_row_make_no_more_rows_a_step() -> None:
    launch = Launch("sft", "zero2", 4, {"sequence_parallel_size": 2, "per_device_train_batch_size": 1})
    assert launch.copies == 2 and commands.total_batch(launch.settings, launch.copies) == 2


@pytest.mark.parametrize("total", [None, 1, 5, 9, 10, 99, 1000, 100_000])
def test_a_save_is_never_further_away_than_a_tenth_of_the_run(total: int | None) -> None:
    every = commands.safe_save_steps(total)
    assert 1 <= every <= commands.MOST_STEPS_AT_RISK
    assert total is None or every <= max(1, total / 10)


def test_a_run_saves_when_it_is_asked_to_end_and_resumes_from_what_it_saved() -> None:
    assert values(plan())["callbacks"] == ["save_on_stop"]
    assert values(plan())["external_plugins"] == [str(commands.SAVE_ON_STOP)]
    assert "resume_from_checkpoint" not in values(plan())
    assert values(plan(resume="/c/checkpoint-5"))["resume_from_checkpoint"] == ["/c/checkpoint-5"]


@pytest.mark.parametrize("text", [text for text in AWKWARD if text.strip()])
def test_what_a_person_typed_is_in_the_plan_literally_and_is_never_a_slot(text: str) -> None:
    found = plan(settings={"system": text}, env={"NOTE": text}, data=Data((text,)), source=Source(text))
    options = values(found)
    assert [options["system"], options["model"], options["dataset"]] == [[text]] * 3 or text.startswith("-")
    filled = found.filled({"run": "R", "port": "1", "id": "I", "devices": ""})
    assert filled.env["NOTE"] == text
    assert {text, f"--system={text}"} & set(filled.argv)
    assert not any(isinstance(word, Slot) and text in word for word in found.argv)


def test_the_sample_is_read_from_the_runs_own_folder() -> None:
    found = plan().filled({"run": "/r", "id": "i", "port": "1", "devices": ""})
    assert "/r/sample.jsonl" in found.argv and "/r/output" in found.argv and found.output_dir == "/r/output"


# merging and serving


def test_a_merge_writes_under_a_temporary_name_and_is_checked_before_it_gets_its_own() -> None:
    source = replace(MODEL, adapter="/runs/checkpoint-5")
    found = commands.merge_plan(MergeSpec(adapter="x"), source, "/models/out", CPU, "/py")
    options = values(found)
    assert found.argv[4] == "export" and options["output_dir"] == ["/models/out.partial"]
    assert (options["adapters"], options["merge_lora"]) == (["/runs/checkpoint-5"], ["true"])
    assert options["torch_dtype"] == ["float32"]
    assert found.then[-4:] == ("--merged", "/models/out.partial", "--final", "/models/out")
    assert (found.output_dir, found.needs) == ("/models/out", "cpu")
    with pytest.raises(Refused, match="not_an_adapter"):
        commands.merge_plan(MergeSpec(adapter="x"), MODEL, "/models/out", CPU, "/py")


def test_a_merge_on_cards_takes_one() -> None:
    found = commands.merge_plan(MergeSpec(adapter="x"), replace(MODEL, adapter="/a"), "/o", CARDS, "/py")
    assert (found.needs, found.device_count, found.env["CUDA_VISIBLE_DEVICES"]) == ("cards", 1, "{devices}")


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
@pytest.mark.parametrize("device", [CPU, CARDS], ids=["cpu", "cards"])
def test_a_server_listens_on_this_machine_only_under_its_runs_name(device: Device, engine: Any) -> None:
    spec = ServeSpec(model="m", engine=engine, tensor_parallel=2 if engine == "vllm" else 1)
    found = commands.serve_plan(spec, replace(MODEL, adapter="/a"), device, "/py")
    options = values(found)
    assert found.argv[4] == "deploy" and options["host"] == ["127.0.0.1"]
    assert (options["port"], options["served_model_name"]) == (["{port}"], ["{id}"])
    assert (options["infer_backend"], options["adapters"]) == ([engine], ["/a"])
    assert options.get("vllm_tensor_parallel_size") == (["2"] if engine == "vllm" else None)
    assert options.get("torch_dtype") == (["float32"] if device is CPU else None)
    assert (found.needs, found.total_steps) == ("nothing", None)
    assert found.filled({"port": "5", "id": "i", "devices": "", "run": ""}).ready_url == "http://127.0.0.1:5/v1/models"
    assert ("--vllm_enforce_eager" in found.argv) == (engine == "vllm" and device is CPU)
