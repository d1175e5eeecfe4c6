"""Specs: from a YAML file and back, and what is refused on the way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from services.errors import Refused
from services.specs import MergeSpec, ServeSpec, TrainSpec, as_yaml, read_train_spec, train_spec
from services.text import explain
from tests.unit.test_plan import AWKWARD


def refusal(flat: dict[str, Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        train_spec(flat)
    assert explain(caught.value, "en") != explain(caught.value, "zh")
    return caught.value


def test_an_empty_file_is_the_starter_model_on_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("{}")
    assert read_train_spec(path) == TrainSpec(command="sft", model="starter", dataset=("sample",), strategy="auto")


def test_names_that_are_not_ours_are_arguments_of_ms_swift() -> None:
    spec = train_spec({"name": "a", "learning_rate": 1e-4, "lora_rank": 16, "dataset": "data.jsonl"})
    assert (spec.name, spec.dataset) == ("a", ("data.jsonl",))
    assert spec.args == {"learning_rate": 1e-4, "lora_rank": 16}
    assert train_spec({"args": {"lora_rank": 1}}).args == {"args": {"lora_rank": 1}}  # so that it is refused by name


def test_the_command_is_rlhf_where_its_type_is_given() -> None:
    assert train_spec({"rlhf_type": "dpo"}).command == "rlhf"
    assert train_spec({"rlhf_type": "dpo", "command": "sft"}).command == "sft"
    assert train_spec({"command": "pt"}).command == "pt"


@pytest.mark.parametrize(
    ("given", "devices"),
    [(0, ("0",)), ("0,2", ("0", "2")), ([1, "3"], ("1", "3")), (" 1 , 2 ", ("1", "2")), (None, None),
     ([0, "0", 1], ("0", "1")), ([], None), ("", None)],
)
def test_devices_may_be_written_in_many_ways(given: object, devices: tuple[str, ...] | None) -> None:
    assert train_spec({"devices": given}).devices == devices


def test_environment_values_become_text() -> None:
    assert train_spec({"env": {"A": 1, "B": True, "C": "x"}}).env == {"A": "1", "B": "true", "C": "x"}


@pytest.mark.parametrize(
    ("flat", "field"),
    [
        ({"processes": 0}, "processes"),
        ({"processes": "many"}, "processes"),
        ({"strategy": "zero9"}, "strategy"),
        ({"command": "megatron export"}, "command"),
        ({"dataset": {"a": 1}}, "dataset"),
        ({"name": ["a"]}, "name"),
        ({"expected_tokens": -1}, "expected_tokens"),
        ({"target": "there"}, "target"),
        ({"env": {"A=B": "x"}}, "env"),
        ({"env": {"": "x"}}, "env"),
        ({"env": {"two words": "x"}}, "env"),
        ({"env": {"A": "nul\0"}}, "env"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_with_its_field(flat: dict[str, Any], field: str) -> None:
    error = refusal(flat)
    assert error.code == "spec_field" and str(error.values["field"]).startswith(field)


@pytest.mark.parametrize("text", AWKWARD)
def test_a_spec_comes_back_from_its_yaml(text: str) -> None:
    spec = TrainSpec(
        name=text, model=text or "m", dataset=("sample", text), model_name=text, model_author=text,
        env={"A": text}, devices=("0", "1"), processes=2, strategy="ddp", args={"system": text, "lora_rank": 4},
    )  # fmt: skip
    assert train_spec(yaml.safe_load(as_yaml(spec.flat()))) == spec


def test_the_yaml_holds_what_was_chosen_and_not_every_default() -> None:
    assert TrainSpec(name="a", dataset=("x.jsonl",), args={"lora_rank": 4}).flat() == {
        "name": "a", "model": "starter", "dataset": ["x.jsonl"], "lora_rank": 4,
    }  # fmt: skip
    assert TrainSpec().flat().keys() == {"model", "dataset", "model_name", "model_author"}


@pytest.mark.parametrize("content", [b"- a\n- b\n", b"a: [1\n", b"1: 2\n", b"just words", b"\xff\xfe\x00", None])
def test_a_file_that_is_no_spec_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "spec.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Refused) as caught:
        read_train_spec(path)
    assert caught.value.code == "spec_unreadable"
    assert str(path) in explain(caught.value, "en")


def test_a_spec_cannot_be_changed_and_ignores_nothing() -> None:
    spec = TrainSpec()
    with pytest.raises(ValidationError):
        spec.name = "b"
    for kind, given in ((TrainSpec, {}), (MergeSpec, {"adapter": "a"}), (ServeSpec, {"model": "a"})):
        kind.model_validate(given)
        with pytest.raises(ValidationError):
            kind.model_validate({**given, "lerning_rate": 1})


BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{last}'] * 99)}]\n" for last, name in zip("abcde", "bcdef", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [BOMB, "lora_rank: &a [*a]", "env: &a {A: *a}", "lora_rank: " + "[" * 9_000 + "]" * 9_000, "a: " + "x" * (1 << 20)],
)
def test_a_file_that_would_fill_the_memory_is_no_spec(tmp_path: Path, text: str) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with pytest.raises(Refused) as caught:
        read_train_spec(path)
    assert caught.value.code == "spec_unreadable" and len(explain(caught.value, "en")) < 500


def test_a_list_given_twice_is_written_out_twice() -> None:
    words = ["a", "b"]
    assert yaml.safe_load(as_yaml({"x": words, "y": words})) == {"x": words, "y": words}
    assert "*" not in as_yaml({"x": words, "y": words})


def test_a_number_may_be_a_name() -> None:
    spec = train_spec({"name": 2026, "model_name": 7, "model_author": 4.5})
    assert (spec.name, spec.model_name, spec.model_author) == ("2026", "7", "4.5")


def test_a_pipe_and_a_folder_are_no_spec_and_nothing_waits_for_them(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(Refused) as caught:
            read_train_spec(path)
        assert caught.value.code == "spec_unreadable" and "Errno" not in explain(caught.value, "en")
