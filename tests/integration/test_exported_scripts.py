"""Scripts written out and run by hand give ms-swift the same arguments as the run; nothing is trained."""

from __future__ import annotations

import ast
import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.bootstrap import Services
from services.plan import Plan
from services.planning.machine import described
from services.presets import machines, presets
from services.specs import TrainSpec, train_spec
from services.swift.exporter import Script, as_python, as_shell, as_yaml, by_hand
from services.swift.importer import import_text
from tests.real_parser import parse

DUMP = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))"
STAND_IN = """
import json, os
class _Arguments(dict):
    def __init__(self, **given):
        super().__init__(given)
SftArguments = PretrainArguments = RLHFArguments = _Arguments
def sft_main(arguments):
    print(json.dumps([arguments, dict(os.environ)]))
pretrain_main = rlhf_main = sft_main
"""
LAUNCHER = """
import json, os, runpy
def main(words):
    os.environ["LOCAL_RANK"] = "0"
    os.environ["LAUNCHED"] = json.dumps(words)
    runpy.run_path(words[-1], run_name="__main__")
"""
ODD: dict[str, Any] = {
    "dataset": ["sample", "swift/self-cognition#9"], "system": "--say '$(x)' \"y\" \\ {run}\nEND_OF_FILE\n你好",
    "lora_rank": 4, "lr_scheduler_kwargs": {"a": [1, "it's"]}, "report_to": ["none"], "processes": 2, "warmup_steps": 3,
    "env": {"A": "it's $x\n\ty", "NCCL_DEBUG": "INFO"}, "learning_rate": 1e-5, "max_steps": -1, "seed": 7,
}  # fmt: skip


def planned(services: Services, spec: TrainSpec, folder: Path, python: str = "") -> Script:
    """What ``spec`` starts in ``folder``, with ``python`` as the interpreter that has ms-swift."""
    trainings = replace(services.trainings, python=python) if python else services.trainings
    return Script(by_hand(trainings.prepare(spec).node_plan, str(folder), "me"), str(folder), spec, "me")


def run(words: list[str], folder: Path, **env: str) -> list[Any]:
    child = subprocess.run(
        words, cwd=folder, env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True, check=True
    )
    found: list[Any] = json.loads(child.stdout)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / '家 "$(x)" it\'s'


@pytest.mark.parametrize("spec", [{}, ODD])
def test_the_shell_script_starts_what_the_run_starts(
    spec: dict[str, Any], services: Services, folder: Path, tmp_path: Path
) -> None:
    fake = tmp_path / "python that prints"
    fake.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(DUMP)} "$@"\n')
    fake.chmod(0o755)
    script = planned(services, train_spec(spec), folder, str(fake))
    (tmp_path / "a.sh").write_text(as_shell(script), encoding="utf-8")
    argv, env = run(["bash", str(tmp_path / "a.sh")], tmp_path)
    assert argv == list(script.plan.argv[1:])
    assert {name: env[name] for name in script.plan.env} == dict(script.plan.env)
    assert Path(env["PWD"]) == folder
    for name, text in script.plan.files.items():
        assert (folder / name).read_text("utf-8") == text


def python_form(script: Script, tmp_path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments and environment with which the Python form calls ms-swift."""
    for name, text in (("swift/__init__.py", STAND_IN), ("torch/distributed/run.py", LAUNCHER)):
        path = tmp_path / "stand-in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "a.py").write_text(as_python(script), encoding="utf-8")
    given, env = run([sys.executable, "-S", "a.py"], tmp_path, PYTHONPATH=str(tmp_path / "stand-in"))
    return given, env


def test_the_python_form_starts_its_ranks_with_the_same_environment(
    services: Services, folder: Path, tmp_path: Path
) -> None:
    script = planned(services, train_spec(ODD), folder)
    given, env = python_form(script, tmp_path)
    assert given["system"] == ODD["system"]
    assert {name: env[name] for name in script.plan.env} == dict(script.plan.env)
    assert json.loads(env["LAUNCHED"]) == ["--nproc_per_node", "2", "--master_port", "29500", str(tmp_path / "a.py")]
    assert (folder / "sample.jsonl").read_text("utf-8") == script.plan.files["sample.jsonl"]


def test_ms_swifts_own_parser_reads_the_same_from_all_three_forms(
    services: Services, folder: Path, tmp_path: Path
) -> None:
    shipped = [
        services.trainings.plan(one.spec, described(dict(machines()[str(one.machine)]))).node_plan
        for one in presets()
        if one.spec.command == "sft" and one.spec.strategy != "megatron"
    ]
    scripts = [planned(services, train_spec(spec), folder) for spec in ({}, ODD)]
    scripts += [Script(by_hand(plan, str(folder), "me"), str(folder)) for plan in shipped if _is_sft(plan)]
    argv_list = []
    for number, script in enumerate(scripts):
        path = tmp_path / f"{number}.yaml"
        path.write_text(as_yaml(script), encoding="utf-8")
        argv_list += [list(script.plan.argv[5:]), [str(path)]]
        imported = import_text(as_shell(script), None, services.settings).argv
        argv_list.append(list(imported[2:]))
    answers = parse("sft", argv_list)
    assert [answer["error"] for answer in answers if "error" in answer] == []
    for number, script in enumerate(scripts):
        by_words, by_yaml, imported_again = (answer["ok"] for answer in answers[3 * number : 3 * number + 3])
        assert by_yaml == by_words
        assert imported_again == by_words
        for name, value in _keywords(as_python(script)).items():
            assert by_words[name] == value, name


def _is_sft(plan: Plan) -> bool:
    return plan.argv[3:5] == ("swift.cli.main", "sft")


def _keywords(source: str) -> dict[str, Any]:
    """The arguments in a Python form."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "SftArguments":
            return {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    raise AssertionError(source)
