"""Commands out, and in again."""

from __future__ import annotations

import ast
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.bootstrap import Services
from services.errors import Refused
from services.planning.machine import described
from services.presets import Preset, machines, presets
from services.specs import TrainSpec, train_spec
from services.swift.exporter import FORMS, Form, Script, by_hand, export
from services.swift.importer import Imported, import_text

FOLDER = "/runs/家 it's"
NAMES = {"shell": "a.sh", "yaml": "a.yaml", "python": "a.py"}


def written(services: Services, spec: TrainSpec, machine: dict[str, Any] | None = None) -> Script:
    hardware = described(dict(machine)) if machine is not None else None
    prepared = services.trainings.plan(spec, hardware)
    return Script(by_hand(prepared.node_plan, FOLDER, "me"), FOLDER, spec, "me")


def read(text: str, form: Form, services: Services) -> Imported:
    return import_text(text, None, services.settings, name=NAMES[form])


def as_spec(text: str, form: Form, services: Services) -> TrainSpec:
    found = read(text, form, services).spec
    assert isinstance(found, TrainSpec)
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("preset", presets(), ids=lambda one: one.name)
def test_form_to_script_to_form_is_the_same_spec(preset: Preset, form: Form, services: Services) -> None:
    script = written(services, preset.spec, dict(machines()[str(preset.machine)]))
    found = read(export(script, form), form, services)
    assert found.spec == preset.spec
    assert not found.refused
    assert not found.translated
    assert [word for word in found.argv if word not in ("swift", "megatron")] == list(script.plan.argv[4:])


ODD: dict[str, Any] = {
    "model": "me/model", "dataset": ["a b.jsonl#5", "it's.jsonl"], "name": "odd 家\n# name",
    "system": "--say '$(x)' \"y\" \\ {run}\nEND_OF_FILE\n你好", "tuner_type": "lora", "num_train_epochs": 2.5,
    "lr_scheduler_kwargs": {"a": [1, "it's"]}, "external_plugins": ["p q.py"], "report_to": ["none"],
    "env": {"A": "it's $x\n", "NCCL_DEBUG": "INFO"}, "processes": 2, "learning_rate": 1e-5, "max_steps": -1,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_odd_values_go_out_and_in_again(form: Form, services: Services) -> None:
    spec = train_spec(ODD)
    script = written(services, spec)
    found = read(export(script, form), form, services)
    assert found.spec == spec
    assert found.argv[2:] == script.plan.argv[5:]
    assert {name: found.env[name] for name in ("A", "NCCL_DEBUG")} == dict(spec.env)


@pytest.mark.parametrize(
    ("form", "old", "new"),
    [
        ("shell", "--lora_rank 8", "--lora_rank 16"),
        ("yaml", "lora_rank: 8", "lora_rank: 16"),
        ("python", "lora_rank=8", "lora_rank=16"),
    ],
)
def test_what_a_person_changes_in_the_script_is_taken(form: Form, old: str, new: str, services: Services) -> None:
    spec = train_spec({"lora_rank": 8, "learning_rate": 1e-4, "processes": 2})
    text = export(written(services, spec), form)
    assert text.count(old) == 1
    assert as_spec(text.replace(old, new), form, services) == spec.model_copy(
        update={"args": {"learning_rate": 1e-4, "lora_rank": 16}}
    )


def test_what_a_person_adds_removes_or_launches_otherwise_is_taken(services: Services) -> None:
    spec = train_spec({"lora_rank": 8, "processes": 2, "name": "n"})
    text = export(written(services, spec), "shell")
    without = as_spec(text.replace("  --lora_rank 8 \\\n", ""), "shell", services)
    assert "lora_rank" not in without.args
    more = as_spec(text.replace("  --lora_rank 8 \\\n", "  --lora_rank 8 --packing true \\\n"), "shell", services)
    assert more.args == {"lora_rank": 8, "packing": True}
    other = as_spec(text.replace("NPROC_PER_NODE=2", "NPROC_PER_NODE=4"), "shell", services)
    assert (other.processes, other.name, other.dataset) == (4, "n", spec.dataset)
    model = as_spec(text.replace("--model ", "--model other/one --seed 3 --vit_lr ", 1), "shell", services)
    assert model.model == "other/one"


def test_a_damaged_mark_leaves_an_ordinary_script(services: Services) -> None:
    text = export(written(services, train_spec({"lora_rank": 8})), "shell")
    for broken in (text.replace("# tunedesk: {", "# tunedesk: {{"), text.replace('{"spec":', '{"sp":')):
        assert as_spec(broken, "shell", services).args["lora_rank"] == 8


def test_the_yaml_is_what_swift_makes_the_same_words_of(services: Services) -> None:
    script = written(services, train_spec(ODD))
    config = yaml.safe_load(export(script, "yaml"))
    env = config.pop("ENV")
    words: list[str] = []
    for name, value in config.items():  # as ms-swift's own command does it
        words += [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    assert words == list(script.plan.argv[5:])
    assert {name: str(value) for name, value in env.items()} == dict(script.plan.env)


def test_the_python_form_is_python_and_starts_its_ranks(services: Services) -> None:
    one = export(written(services, train_spec({"lora_rank": 8})), "python")
    two = export(written(services, train_spec({"lora_rank": 8, "processes": 2})), "python")
    for text in (one, two):
        ast.parse(text)
    assert "torch.distributed.run" not in one
    assert "'--nproc_per_node', '2'" in two


def test_the_shell_script_holds_the_files_of_the_plan(services: Services) -> None:
    script = written(services, train_spec({}))
    script = replace(script, plan=replace(script.plan, files={"a b": "END_OF_FILE\n$x `y`\n"}))
    text = export(script, "shell")
    assert "cat > 'a b' <<'END_OF_FILE_'\nEND_OF_FILE\n$x `y`\nEND_OF_FILE_\n" in text
    assert shlex.quote(FOLDER) in text


def test_what_has_no_such_form_is_refused(services: Services, tmp_path: Path) -> None:
    plan = replace(written(services, train_spec({})).plan, argv=("bash", "run.sh"))
    assert "bash run.sh" in export(Script(plan, str(tmp_path)), "shell")
    for form in ("yaml", "python"):
        with pytest.raises(Refused, match="export_form"):
            export(Script(plan, str(tmp_path)), form)  # type: ignore[arg-type]
