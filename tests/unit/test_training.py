"""From a spec to a run: what it comes to, what is kept of it, what is refused before anything starts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.bootstrap import Services
from services.errors import Failed, Refused
from services.hardware.cards import Card
from services.hardware.device import device_of
from services.hardware.machine import Machine
from services.models.facts import ModelFacts, facts_of
from services.planning.deepspeed import Knobs, deepspeed_config
from services.planning.machine import described
from services.runs import process
from services.runs.folder import RunState
from services.settings import Settings
from services.specs import ServeSpec, TrainSpec
from services.text import explain
from services.training import Trainings

GIB = 1 << 30
ROW = '{"messages": [{"role": "user", "content": "a?"}, {"role": "assistant", "content": "b"}]}\n'


@pytest.fixture(autouse=True)
def no_keepers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "spawn_free", lambda *_, **__: None)


def option(services: Services, spec: TrainSpec, name: str) -> str:
    argv = services.trainings.prepare(spec).plan.argv
    return argv[argv.index(f"--{name}") + 1]


def refused(services: Services, code: str, spec: TrainSpec) -> None:
    with pytest.raises(Refused) as caught:
        services.trainings.start(spec)
    assert caught.value.code == code
    assert explain(caught.value, "en") != explain(caught.value, "zh")
    assert services.runs.list() == []


def test_what_is_prepared_is_what_is_started(services: Services) -> None:
    spec = TrainSpec(name="a", args={"lora_rank": 4}, env={"A": "b"})
    plan = services.trainings.prepare(spec).plan
    record = services.trainings.start(spec)
    assert services.runs.folder(record.id).read_plan(1) == plan


def test_the_frozen_spec_is_the_given_one_under_the_runs_name(services: Services) -> None:
    spec = TrainSpec(dataset=("sample",), model_name="Robo", args={"system": "hi"}, strategy="single")
    record = services.trainings.start(spec)
    assert record.name == "Robo"
    assert services.trainings.spec_of(record.id) == spec.model_copy(update={"name": "Robo"})
    assert record.about["base"] == "starter" and record.about["total_batch"] == 4


def test_a_run_without_a_name_is_called_after_what_it_trains(
    services: Services, tiny_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "rows.jsonl").write_text(ROW)
    spec = TrainSpec(model=str(tiny_model), dataset=(str(tmp_path / "rows.jsonl"),), command="sft")
    assert services.trainings.start(spec).name == "tiny model 小-sft"


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("output_dir", "out", "{here}/out"),
        ("output_dir", "/abs/out", "/abs/out"),
        ("val_dataset", "rows.jsonl", "{here}/rows.jsonl"),
        ("val_dataset", "rows.jsonl#5", "{here}/rows.jsonl#5"),
        ("val_dataset", "owner/name", "owner/name"),
        ("external_plugins", ["own.py"], "{here}/own.py"),
        ("deepspeed", "ds.json", "{here}/ds.json"),
        ("deepspeed", "zero2", "zero2"),
        ("system", "prompt.txt", "{here}/prompt.txt"),
        ("system", "missing.txt", "missing.txt"),
        ("system", "zero2", "zero2"),
        ("run_name", "rows.jsonl", "rows.jsonl"),
    ],
)
def test_a_relative_path_is_read_from_the_current_folder(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, given: object, expected: str
) -> None:
    here = tmp_path / "here 这"
    (here / "zero2").mkdir(parents=True)
    (here / "rows.jsonl").write_text(ROW)
    for file in ("own.py", "ds.json", "prompt.txt"):
        (here / file).write_text("{}")
    monkeypatch.chdir(here)
    spec = TrainSpec(args={name: given})
    plan = services.trainings.prepare(spec).plan
    assert expected.replace("{here}", str(here)) in plan.argv


def test_a_model_is_kept_as_the_folder_or_the_id_that_was_meant(services: Services, tiny_model: Path) -> None:
    record = services.trainings.start(TrainSpec(model=str(tiny_model) + "/../tiny model 小"))
    assert services.trainings.spec_of(record.id).model == str(tiny_model)
    hub = services.trainings.start(TrainSpec(model="Qwen/Qwen3-0.6B"))
    assert services.trainings.spec_of(hub.id).model == "Qwen/Qwen3-0.6B"


def test_what_cannot_be_written_is_refused_before_the_start(
    services: Services, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = replace(services.trainings, machine=lambda: replace(machine, disk_free=1000))
    small = replace(services, trainings=full)
    refused(small, "disk_too_small", TrainSpec(args={"tuner_type": "full"}))
    with pytest.raises(Refused, match="1000 B"):
        small.trainings.start(TrainSpec(args={"tuner_type": "full"}))
    refused(services, "path_not_found", TrainSpec(args={"output_dir": "/sys/out"}))  # outside the roots
    monkeypatch.setattr("services.training._writable", lambda place: place != services.settings.roots[0])
    refused(services, "output_not_writable", TrainSpec(args={"output_dir": str(services.settings.roots[0] / "out")}))


def test_the_disk_needed_grows_with_what_is_trained_and_kept(services: Services) -> None:
    def needed(**args: Any) -> int:
        found = services.trainings.prepare(TrainSpec(args=args)).disk_needed
        assert found is not None
        return found

    assert needed(tuner_type="full") == 76 * 12 * 4
    assert needed(lora_rank=2) == 2 * 12 * 12 * 4
    assert needed(lora_rank=2, save_total_limit=1) == 2 * 12 * 12 * 2
    assert services.trainings.prepare(TrainSpec(model="Qwen/Qwen3-0.6B")).disk_needed is None


def test_an_adapter_is_not_trained_on(services: Services, tiny_model: Path) -> None:
    (tiny_model / "adapter_config.json").write_text(f'{{"base_model_name_or_path": "{tiny_model.parent}/base"}}')
    base = tiny_model.parent / "base"
    base.mkdir()
    (base / "config.json").write_text("{}")
    (base / "model.safetensors").write_bytes(b"x")
    refused(services, "train_on_adapter", TrainSpec(model=str(tiny_model)))


@pytest.mark.parametrize(
    ("code", "spec"),
    [
        ("method_impossible", TrainSpec(args={"quant_method": "bnb", "quant_bits": 4})),
        ("strategy_impossible", TrainSpec(strategy="zero3")),
        ("more_processes_than_cores", TrainSpec(processes=64)),
        ("dataset_not_found", TrainSpec(dataset=("none.jsonl",))),
        ("path_not_found", TrainSpec(model="/none")),
        ("argument_unknown", TrainSpec(args={"lerning_rate": 1})),
    ],
)
def test_what_cannot_work_here_is_refused_before_the_start(services: Services, code: str, spec: TrainSpec) -> None:
    refused(services, code, spec)


def test_a_machine_is_to_a_plan_its_cards_and_cores(machine: Machine) -> None:
    assert device_of(machine).on_cpu and device_of(machine).cores == 4
    card = Card(3, "x", "gpu", 0.0, 0, 24 * GIB)
    assert device_of(replace(machine, cards=(card, replace(card, index=5)))).cards == ("3", "5")


@pytest.mark.parametrize(("given", "folder"), [(5, "5"), ("out", "out"), ("/a/b", "/a/b")])
def test_an_output_folder_is_a_path_whatever_yaml_made_of_its_name(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: object, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = services.trainings.prepare(TrainSpec(args={"output_dir": given})).plan
    assert plan.output_dir == str(tmp_path / folder)


def test_an_empty_output_folder_is_the_runs_own(services: Services) -> None:
    assert services.trainings.prepare(TrainSpec(args={"output_dir": ""})).plan.output_dir == "{run}/output"


def test_a_run_without_data_is_refused(services: Services) -> None:
    refused(services, "dataset_none", TrainSpec(dataset=()))
    refused(services, "dataset_none", TrainSpec(dataset=(" ",)))


def test_endless_epochs_have_no_number_of_steps(services: Services) -> None:
    assert services.trainings.prepare(TrainSpec(args={"num_train_epochs": "inf"})).plan.total_steps is None


@pytest.mark.parametrize("names", [{"model_name": " "}, {"model_author": ""}])
def test_the_sample_is_not_taught_with_an_empty_name(services: Services, names: dict[str, str]) -> None:
    refused(services, "sample_without_name", TrainSpec(**names))  # type: ignore[arg-type]


def test_a_server_that_failed_says_why(services: Services) -> None:
    plan, _ = services.chats.prepare(ServeSpec(model="starter"))
    record = services.runs.start(plan, name="talk", spec="")
    error = {"code": "disk_full", "values": {"what": "No space left"}, "line": ""}
    services.runs.folder(record.id).write(replace(record, state=RunState.FAILED, error=error))
    with pytest.raises(Failed) as caught:
        services.chats.wait_until_ready(record.id)
    assert all(part in explain(caught.value, "en") for part in ("talk", "No space left"))
    assert explain(caught.value, "en") != explain(caught.value, "zh")


# plans


BIG = {
    "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
    "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944, "vocab_size": 152064,
    "torch_dtype": "bfloat16",
}  # fmt: skip


@pytest.fixture
def only_config(tmp_path: Path) -> Path:
    folder = tmp_path / "只有 config"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(BIG))
    return folder


def test_a_model_of_which_only_its_configuration_is_here_is_planned_for_but_not_trained(
    services: Services, only_config: Path
) -> None:
    spec = TrainSpec(model=str(only_config))
    advice = services.trainings.plan(spec).advice
    assert advice.worst is not None and advice.worst.total > 20 and advice.fits is False
    refused(services, "model_only_config", spec)


def test_a_described_machine_is_planned_for_as_if_this_one_were_not_there(
    services: Services, only_config: Path, machine: Machine
) -> None:
    spec = TrainSpec(model=str(only_config), dataset=("/elsewhere/rows.jsonl",))
    cards = [{"name": "NVIDIA A100-SXM4-40GB", "memory_gib": 40, "free_gib": 39, "count": 4}]
    hardware = described({"gpus": cards, "host_memory_gib": 256, "cores": 64, "link": "nvlink"})
    trainings = services.trainings
    found = trainings.plan(spec, hardware)
    assert (found.advice.strategy, found.plan.env["NPROC_PER_NODE"], found.plan.needs) == ("zero2", "4", "cards")
    assert "--attn_impl" in found.plan.argv  # a described machine counts as having the packages
    smaller = replace(trainings, machine=lambda: replace(machine, cores=1, memory_total=GIB, has_cxx_compiler=False))
    assert smaller.plan(spec, hardware).plan == found.plan


def test_the_size_of_a_hub_model_is_asked_for_and_a_plan_is_made_without_it(services: Services) -> None:
    asked: list[tuple[str, bool]] = []

    def fetch(model: str, _: Settings, use_hf: bool) -> ModelFacts | None:
        asked.append((model, use_hf))
        return facts_of(BIG) if use_hf else None

    trainings = replace(services.trainings, fetch=fetch)
    assert trainings.prepare(TrainSpec(model="owner/name")).advice.fits is None
    assert trainings.prepare(TrainSpec(model="hf::owner/name")).advice.worst is not None
    assert asked == [("owner/name", False), ("owner/name", True)]


def test_the_length_of_rows_is_weighed_before_it_was_counted(services: Services, tmp_path: Path) -> None:
    for name, text in (("short", "ab"), ("long", "word " * 4000)):
        row = {"messages": [{"role": "user", "content": "a?"}, {"role": "assistant", "content": text}]}
        (tmp_path / f"{name}.jsonl").write_text((json.dumps(row) + "\n") * 3)
    found = {
        name: services.trainings.prepare(
            TrainSpec(dataset=(str(tmp_path / f"{name}.jsonl"),), args={"max_length": 100_000})
        ).advice.tokens
        for name in ("short", "long")
    }
    assert found["short"] < 60 and 3000 < found["long"] < 8000


def test_a_configuration_of_deepspeed_is_kept_as_a_mapping_and_written_as_a_file(
    services: Services, machine: Machine
) -> None:
    config = deepspeed_config(2, Knobs(reduce_bucket_size=100_000_000))
    spec = TrainSpec(processes=2, args={"deepspeed": config})
    found = services.trainings.prepare(spec)
    assert found.advice.strategy == "zero2"
    assert json.loads(found.plan.files["deepspeed.json"]) == config
    record = services.trainings.start(spec)
    assert services.trainings.spec_of(record.id).args["deepspeed"] == config


def test_a_choice_that_cannot_run_here_is_refused_before_the_start(services: Services) -> None:
    with pytest.raises(Refused) as caught:
        services.trainings.prepare(TrainSpec(args={"tuner_type": "bone"}))
    assert caught.value.code == "choice_unavailable"
    assert "PEFT" in explain(caught.value, "en") and "PEFT" in explain(caught.value, "zh")


def test_a_run_goes_on_as_it_was_begun_however_full_the_cards_are_by_then(
    services: Services, machine: Machine, tmp_path: Path, tiny_model: Path
) -> None:
    (tiny_model / "config.json").write_text(json.dumps(BIG))
    card = Card(0, "NVIDIA A100-SXM4-40GB", "gpu", 0.0, 0, 40 * GIB, (8, 0))
    cards = tuple(replace(card, index=index) for index in range(4))

    def on(*, used: int) -> Trainings:
        full = tuple(replace(one, memory_used=used) for one in cards)
        big = replace(machine, cards=full, memory_total=512 * GIB, disk_free=1000 * GIB)
        return replace(services.trainings, machine=lambda: big)

    spec = TrainSpec(args={"tuner_type": "full"})
    record = on(used=0).start(spec)
    first = services.runs.folder(record.id).read_plan(1)
    folder = services.runs.folder(record.id)
    folder.write(replace(folder.read(), state=RunState.FAILED))
    on(used=40 * GIB - 1).resume(record.id)
    again = services.runs.folder(record.id).read_plan(2)
    assert (sorted(again.argv), again.processes) == (sorted(first.argv), first.processes)
    assert sorted(on(used=40 * GIB - 1).prepare(spec).plan.argv) != sorted(first.argv)
