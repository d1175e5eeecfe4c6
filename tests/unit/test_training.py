"""From a spec to a run: what it comes to, what is kept of it, what is refused before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.bootstrap import Services
from services.errors import Failed, Refused
from services.hardware.cards import Card
from services.hardware.machine import Machine
from services.hardware.strategies import device_of
from services.runs import process
from services.runs.folder import RunState
from services.specs import ServeSpec, TrainSpec
from services.text import explain

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


def test_a_machine_is_to_a_plan_its_cards_cores_and_limits(machine: Machine) -> None:
    assert device_of(machine).on_cpu and device_of(machine).cores == 4
    assert device_of(machine).impossible.keys() >= {"zero3", "device_map"}
    card = Card(3, "x", "gpu", 0.0, 0, 24 * GIB)
    on_cards = device_of(replace(machine, cards=(card, replace(card, index=5))))
    assert on_cards.cards == ("3", "5") and not on_cards.impossible.keys() & {"zero3", "ddp", "fsdp2"}


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
