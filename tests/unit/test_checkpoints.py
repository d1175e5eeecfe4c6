"""What is offered as a checkpoint, an adapter, a model."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from services.swift import checkpoints
from services.swift.checkpoints import adapter_base, is_adapter, is_model, list_checkpoints, read_json


def checkpoint(folder: Path, step: int, *names: str) -> Path:
    path = folder / f"checkpoint-{step}"
    path.mkdir(parents=True)
    (path / "trainer_state.json").write_text("{}")
    for name in names or ("adapter_model.safetensors", "optimizer.pt"):
        (path / name).write_bytes(b"x")
    return path


def test_checkpoints_come_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (100, 9, 20):
        checkpoint(tmp_path, step)
    assert [one.step for one in list_checkpoints([tmp_path])] == [9, 20, 100]
    assert all(one.resumable for one in list_checkpoints([tmp_path]))


def test_of_two_with_one_step_the_later_attempts_counts(tmp_path: Path) -> None:
    checkpoint(tmp_path / "v0", 5)
    later = checkpoint(tmp_path / "v1", 5)
    assert [one.path for one in list_checkpoints([tmp_path / "v0", tmp_path / "v1"])] == [later]


@pytest.mark.parametrize(
    "spoil", ["checkpoint-is-incomplete.txt", "no state", "torn state", "empty weights", "no weights"]
)
def test_a_checkpoint_that_is_not_whole_is_not_offered(tmp_path: Path, spoil: str) -> None:
    path = checkpoint(tmp_path, 5)
    if spoil.endswith(".txt"):
        (path / spoil).touch()
    elif spoil == "no state":
        (path / "trainer_state.json").unlink()
    elif spoil == "torn state":
        (path / "trainer_state.json").write_text('{"global_st')
    elif spoil == "empty weights":
        (path / "adapter_model.safetensors").write_bytes(b"")
    else:
        (path / "adapter_model.safetensors").unlink()
    checkpoint(tmp_path, 4)
    assert [one.step for one in list_checkpoints([tmp_path])] == [4]


@pytest.mark.parametrize(
    "name", ["checkpoint-", "checkpoint-5-old", "checkpoint-x", "last-checkpoint", "my-checkpoint-5"]
)
def test_other_folders_are_no_checkpoints(tmp_path: Path, name: str) -> None:
    shutil.move(checkpoint(tmp_path, 5), tmp_path / name)
    assert list_checkpoints([tmp_path]) == []


def test_weights_alone_cannot_be_resumed(tmp_path: Path) -> None:
    checkpoint(tmp_path, 5, "model-00001-of-00002.safetensors")
    assert [one.resumable for one in list_checkpoints([tmp_path])] == [False]


@pytest.mark.parametrize(
    "names", [("pytorch_model_fsdp_0", "optimizer_0"), ("global_step5",), ("__0_0.distcp", "optimizer.bin")]
)
def test_sharded_checkpoints_count(tmp_path: Path, names: tuple[str, ...]) -> None:
    checkpoint(tmp_path, 5, *names)
    assert [one.resumable for one in list_checkpoints([tmp_path])] == [True]


def test_a_checkpoint_that_vanishes_while_it_is_looked_at_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = checkpoint(tmp_path, 5)
    checkpoint(tmp_path, 6)
    read = checkpoints.read_json

    def read_and_lose(file: Path) -> object:
        found = read(file)
        if file.parent == path and path.exists():
            shutil.rmtree(path)
        return found

    monkeypatch.setattr(checkpoints, "read_json", read_and_lose)
    assert [one.step for one in list_checkpoints([tmp_path, tmp_path / "none"])] == [6]


def test_an_adapter_names_its_base_in_args_json_or_its_own_configuration(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "own/base"}))
    assert is_adapter(tmp_path) and not is_model(tmp_path)
    assert adapter_base(tmp_path) == "own/base"
    (tmp_path / "args.json").write_text(json.dumps({"model": "/models/base"}))
    assert adapter_base(tmp_path) == "/models/base"
    (tmp_path / "args.json").write_text(json.dumps({"model": None}))
    (tmp_path / "adapter_config.json").write_text("{}")
    assert adapter_base(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b"\xff"])
def test_what_is_no_json_object_reads_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    assert read_json(tmp_path / "a.json") is None and read_json(tmp_path / "b.json") is None


def real_checkpoint(folder: Path, step: int) -> Path:
    """With files as safetensors and torch write them."""
    path = checkpoint(folder, step)
    header = json.dumps({"__metadata__": {}, "a": {"dtype": "F32", "shape": [25], "data_offsets": [0, 100]}}).encode()
    (path / "adapter_model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(100))
    with zipfile.ZipFile(path / "optimizer.pt", "w") as archive:
        archive.writestr("data", bytes(1000))
    return path


@pytest.mark.parametrize(
    ("name", "kept"), [("adapter_model.safetensors", 50), ("adapter_model.safetensors", 150), ("optimizer.pt", 500)]
)
def test_a_checkpoint_whose_files_lost_their_ends_is_not_offered(tmp_path: Path, name: str, kept: int) -> None:
    real_checkpoint(tmp_path, 4)
    torn = real_checkpoint(tmp_path, 5) / name
    assert [one.step for one in list_checkpoints([tmp_path])] == [4, 5]
    torn.write_bytes(torn.read_bytes()[:kept])
    assert [one.step for one in list_checkpoints([tmp_path])] == [4]


def test_a_checkpoint_with_damaged_weights_is_no_error(tmp_path: Path) -> None:
    weights = real_checkpoint(tmp_path, 5) / "adapter_model.safetensors"
    weights.write_bytes((16).to_bytes(8, "little") + bytes(200))
    assert list_checkpoints([tmp_path]) == []
