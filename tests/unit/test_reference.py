"""What a person may call a model, and what is meant by it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.errors import Refused
from services.models.merge import Merges, default_name
from services.models.reference import Models
from services.runs import process
from services.runs.folder import Record, RunState
from services.runs.lifecycle import Runs
from services.settings import Settings
from services.specs import MergeSpec
from services.text import explain


@pytest.fixture
def runs(settings: Settings) -> Runs:
    return Runs(settings.runs)


@pytest.fixture
def models(settings: Settings, runs: Runs) -> Models:
    return Models(settings, runs)


def adapter(folder: Path, base: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
    (folder / "adapter_model.safetensors").write_bytes(b"x")
    (folder / "trainer_state.json").write_text("{}")
    return folder


def trained(
    runs: Runs, base: object, run_id: str = "20260101-000000-robot", name: str = "my: robot", **values: Any
) -> Record:
    """A finished training run with checkpoints 5 and 10."""
    folder = runs.folder(run_id)
    output = folder.path / "output"
    for step in (5, 10):
        adapter(output / "v0-1" / f"checkpoint-{step}", base)
    record = Record(run_id, name, "train", RunState.SUCCEEDED, output_dir=str(output), **values)
    folder.write(record)
    return record


def merged(runs: Runs, of: str, folder: Path, run_id: str = "20260102-000000-merged") -> Record:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"x")
    runs.folder(run_id).path.mkdir(parents=True)
    record = Record(run_id, "robot-merged", "merge", RunState.SUCCEEDED, output_dir=str(folder), about={"of": of})
    runs.folder(run_id).write(record)
    return record


def refused(code: str, models: Models, text: str, **options: Any) -> None:
    with pytest.raises(Refused) as caught:
        models.find(text, **options)
    assert caught.value.code == code
    assert explain(caught.value, "en") != explain(caught.value, "zh")


def test_the_starter_may_be_a_prepared_model_that_a_person_named(models: Models, tiny_model: Path) -> None:
    found = models.find(" starter ")
    assert (found.label, found.source.model) == ("starter", str(tiny_model))
    assert found.source.flags == {"model_type": "llama", "template": "chatml"}
    assert found.facts is not None and found.facts.heads == 4
    shutil.rmtree(tiny_model)
    refused("starter_missing", models, "starter")


def test_a_folder_may_be_named_in_many_ways(models: Models, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiny_model.parent)
    monkeypatch.setenv("HOME", str(tiny_model.parent))
    for text in (
        str(tiny_model),
        f"./{tiny_model.name}",
        tiny_model.name,
        f"~/{tiny_model.name}",
        f"x/../{tiny_model.name}/",
    ):
        (tiny_model.parent / "x").mkdir(exist_ok=True)
        found = models.find(text)
        assert (found.source.model, found.source.local) == (str(tiny_model), True)


@pytest.mark.parametrize(
    ("text", "name", "use_hf"),
    [("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B", False), ("hf::a/b", "a/b", True), ("ms::a.b/c_d-1", "a.b/c_d-1", False)],
)
def test_a_hub_id_names_its_hub(models: Models, text: str, name: str, use_hf: bool) -> None:
    source = models.find(text).source
    assert (source.model, source.local, source.use_hf) == (name, False, use_hf)


def test_a_folder_that_is_there_wins_over_a_hub_id(
    models: Models, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.move(tiny_model, tiny_model.parent / "owner" / "name")
    monkeypatch.chdir(tiny_model.parent)
    assert models.find("owner/name").source.local


@pytest.mark.parametrize(
    "text",
    ["", "   ", "./none", "/none", "../..", "~nobody/x", "nul\0", "x" * 5000, "a/" + "x" * 5000 + "/b", "--flag"],
)
def test_what_is_nowhere_is_refused(models: Models, text: str) -> None:
    refused("path_not_found", models, text)


@pytest.mark.parametrize("text", ["nope", "my robot", "小明", "nope:checkpoint-3"])
def test_a_name_that_nothing_has_is_no_path_outside_the_folders(models: Models, text: str) -> None:
    with pytest.raises(Refused) as caught:
        models.find(text)
    assert caught.value.code in ("model_unknown", "run_not_found") and "tunedesk runs" in explain(caught.value, "en")


def test_a_hub_id_of_any_length_is_left_to_the_hub(models: Models) -> None:
    assert not models.find("a/" + "x" * 5000).source.local


def test_a_folder_without_a_model_is_refused(models: Models, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused("model_not_there", models, str(tmp_path / "empty"))


def test_a_folder_outside_the_allowed_ones_is_not_found(models: Models) -> None:
    refused("path_not_found", models, "/usr")


# adapters


def test_an_adapter_brings_its_base(models: Models, tiny_model: Path, tmp_path: Path) -> None:
    folder = adapter(tmp_path / "lora", str(tiny_model))
    source = models.find(str(folder)).source
    assert (source.model, source.adapter) == (str(tiny_model), str(folder))
    assert source.flags == {"model_type": "llama", "template": "chatml"}


def test_an_adapters_own_flags_win_over_its_bases(models: Models, tiny_model: Path, tmp_path: Path) -> None:
    folder = adapter(tmp_path / "lora", str(tiny_model))
    (folder / "args.json").write_text(json.dumps({"model": str(tiny_model), "model_type": "qwen2", "template": "qwen"}))
    assert models.find(str(folder)).source.flags == {"model_type": "qwen2", "template": "qwen"}


def split(folder: Path, base: Path, **args: Any) -> Path:
    """A PiSSA checkpoint as ms-swift writes it, with what was learnt as a plain LoRA beside it."""
    adapter(folder, str(base))
    adapter(folder / "converted" / "default", str(base))
    (folder / "adapter_config.json").write_text(json.dumps({"init_lora_weights": "pissa_niter_4", "r": 8}))
    (folder / "args.json").write_text(json.dumps({"model": str(base), **args}))
    return folder


def test_an_adapter_that_splits_its_base_is_used_as_the_plain_lora_beside_it(
    models: Models, tiny_model: Path, tmp_path: Path
) -> None:
    folder = split(tmp_path / "checkpoint-4", tiny_model, system="Be brief.", agent_template=None)
    source = models.find(str(folder)).source
    assert (source.model, source.adapter) == (str(tiny_model), str(folder / "converted" / "default"))
    assert source.flags == {"model_type": "llama", "template": "chatml", "system": "Be brief."}


@pytest.mark.parametrize("fault", ["resumed", "continued", "no weights", "torn", "plain start"])
def test_a_plain_lora_that_does_not_hold_all_that_was_learnt_is_not_used(
    models: Models, tiny_model: Path, tmp_path: Path, fault: str
) -> None:
    went_on: dict[str, dict[str, Any]] = {
        "resumed": {"resume_from_checkpoint": "/runs/checkpoint-2"}, "continued": {"adapters": ["/other"]},
    }  # fmt: skip
    folder = split(tmp_path / "checkpoint-4", tiny_model, **went_on.get(fault, {}))
    weights = folder / "converted" / "default" / "adapter_model.safetensors"
    if fault == "no weights":
        weights.unlink()
    elif fault == "torn":
        header = json.dumps({"a": {"dtype": "F32", "shape": [25], "data_offsets": [0, 100]}}).encode()
        weights.write_bytes(len(header).to_bytes(8, "little") + header + bytes(50))
    elif fault == "plain start":
        (folder / "adapter_config.json").write_text(json.dumps({"init_lora_weights": True}))
    assert models.find(str(folder)).source.adapter == str(folder)


def test_an_adapter_may_be_given_its_base(models: Models, tiny_model: Path, tmp_path: Path) -> None:
    for name, base in [("nameless", None), ("moved", "/gone/model")]:
        folder = str(adapter(tmp_path / name, base))
        refused("adapter_needs_base" if base is None else "adapter_base_gone", models, folder)
        assert models.find(folder, base="starter").source.model == str(tiny_model)
        assert models.find(folder, base=str(tiny_model)).source.model == str(tiny_model)
        refused("adapter_base_gone", models, folder, base="/none")


def test_an_adapter_is_no_base(models: Models, tiny_model: Path, tmp_path: Path) -> None:
    first = adapter(tmp_path / "first", str(tiny_model))
    refused("base_is_adapter", models, str(adapter(tmp_path / "second", str(first))))


# runs


def test_a_run_means_its_last_checkpoint_and_may_name_another(models: Models, runs: Runs, tiny_model: Path) -> None:
    record = trained(runs, str(tiny_model))
    for text in (record.id, record.name, "last", "20260101"):
        assert Path(models.find(text).source.adapter or "").name == "checkpoint-10"
    assert Path(models.find(f"{record.name}:checkpoint-5").source.adapter or "").name == "checkpoint-5"
    assert models.find(record.id).label == f"{record.name}:checkpoint-10"
    refused("no_checkpoint", models, f"{record.id}:checkpoint-7")
    refused("run_not_found", models, "none:checkpoint-5")


def test_a_run_whose_base_moved_may_be_given_it(models: Models, runs: Runs, tiny_model: Path) -> None:
    record = trained(runs, "/gone", about={"base": "/gone"})
    refused("adapter_base_gone", models, record.id)
    for text in (record.id, f"{record.name}:checkpoint-5"):
        assert models.find(text, base=str(tiny_model)).source.model == str(tiny_model)


def test_a_run_means_its_merged_model_where_that_is_asked_for(models: Models, runs: Runs, settings: Settings) -> None:
    record = trained(runs, "/gone")
    refused("not_merged", models, f"{record.id}:merged")
    merge = merged(runs, record.id, settings.home / "models" / "a")
    for text in (f"{record.id}:merged", merge.id, f"{merge.name}:merged"):
        found = models.find(text)
        assert (found.source.model, found.source.adapter) == (merge.output_dir, None)
    shutil.rmtree(merge.output_dir)
    refused("not_merged", models, f"{record.id}:merged")


def test_an_adapter_that_is_its_own_base_is_refused(models: Models, tmp_path: Path) -> None:
    folder = adapter(tmp_path / "a", str(tmp_path / "a"))
    refused("base_is_adapter", models, str(folder))


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("config.json", b'{"model_', "model_not_there"),
        ("model.safetensors", None, "model_only_config"),
        ("model.safetensors", b"", "model_not_there"),
        ("model.safetensors", (100).to_bytes(8, "little") + b'{"a": ', "model_torn"),
    ],
)
def test_a_damaged_model_is_refused_before_anything_starts(
    models: Models, tiny_model: Path, name: str, content: bytes | None, code: str
) -> None:
    (tiny_model / name).unlink()
    if content is not None:
        (tiny_model / name).write_bytes(content)
    refused(code, models, str(tiny_model))


def test_a_model_that_may_not_be_read_is_not_found(
    models: Models, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_open = Path.open

    def open_allowed(path: Path, *options: Any, **named: Any) -> Any:
        if path.suffix == ".safetensors":
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, *options, **named)

    monkeypatch.setattr(Path, "open", open_allowed)
    refused("path_not_found", models, str(tiny_model))


# where a merge goes


@pytest.fixture
def merges(settings: Settings, runs: Runs, models: Models, machine: Any) -> Merges:
    return Merges(settings, runs, models, lambda: machine, "/py")


def test_a_merge_never_overwrites(merges: Merges, runs: Runs, tiny_model: Path, settings: Settings) -> None:
    record = trained(runs, str(tiny_model))
    parent = settings.home / "models"
    assert merges.prepare(MergeSpec(adapter=record.id))[0].output_dir == str(parent / "my-robot-merged")
    (parent / "my-robot-merged").mkdir(parents=True)
    (parent / "my-robot-merged-2.partial").mkdir()
    merged(runs, record.id, parent / "my-robot-merged-3")
    assert merges.prepare(MergeSpec(adapter=record.id))[0].output_dir == str(parent / "my-robot-merged-4")


@pytest.mark.parametrize("name", ["..", "a/b", ".hidden", "x" * 300, "家" * 100, "new\nline", "nul\0"])
def test_a_merge_has_the_name_of_a_folder(merges: Merges, runs: Runs, tiny_model: Path, name: str) -> None:
    trained(runs, str(tiny_model))
    with pytest.raises(Refused, match="merge_name"):
        merges.prepare(MergeSpec(adapter="last", name=name))


@pytest.mark.parametrize(
    "name", ["..", "a/b", ".hidden", "x" * 300, "家" * 300, "new\nline", "--flag", "a: b", "'; touch x"]
)
def test_whatever_a_run_is_called_its_merge_has_a_plain_name(
    models: Models, merges: Merges, runs: Runs, tiny_model: Path, name: str
) -> None:
    trained(runs, str(tiny_model), name=name)
    found = default_name(models.find("last"))
    assert found.endswith("-merged") and "/" not in found and not found.startswith((".", "-")) and found.isprintable()
    merges.prepare(MergeSpec(adapter="last"))


def test_a_whole_model_cannot_be_merged(merges: Merges, tiny_model: Path) -> None:
    with pytest.raises(Refused, match="not_an_adapter"):
        merges.prepare(MergeSpec(adapter=str(tiny_model)))


def test_a_run_is_merged_when_it_has_ended(merges: Merges, runs: Runs, tiny_model: Path) -> None:
    record = trained(runs, str(tiny_model))
    runs.folder(record.id).write(replace(record, state=RunState.RUNNING, keeper=process.me()))
    with pytest.raises(Refused, match="still_running"):
        merges.prepare(MergeSpec(adapter=record.id))


def test_what_a_merge_left_that_ended_by_force_is_gone_when_the_next_one_starts(
    merges: Merges, runs: Runs, tiny_model: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "spawn_free", lambda *_, **__: None)
    record = trained(runs, str(tiny_model))
    left, under_way = (settings.home / "models" / f"{name}.partial" for name in ("a", "b"))
    for number, folder, keeper in ((3, left, None), (4, under_way, process.me())):
        run = runs.folder(f"2026010{number}-000000-m")
        run.path.mkdir(parents=True)
        folder.mkdir(parents=True)
        output = str(folder).removesuffix(".partial")
        run.write(Record(run.id, "m", "merge", RunState.RUNNING, output_dir=output, keeper=keeper))
    merges.start(MergeSpec(adapter=record.id))
    assert (left.exists(), under_way.exists()) == (False, True)
