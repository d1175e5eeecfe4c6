"""A plan: what is shown is what runs, and only what we left open is filled in."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.plan import Plan, Slot, plan_from_json

AWKWARD = [
    "",
    " ",
    "'; touch x; #",
    "$(touch x)",
    "`touch x`",
    "two\nlines",
    "--flag like",
    "-",
    "你好 世界",
    "{run}/{port}",
    'a "quote" \\ and $HOME, % and !',
    "*?[a-z]~",
    "tab\tand \x07 bell",
]
PLAN = Plan(
    kind="serve",
    argv=("py thon", "-m", "swift", Slot("{run}/out"), "{run}", Slot("--name={id}")),
    env={"MASTER_PORT": Slot("{port}"), "NOTE": "{port}"},
    files={"sample.jsonl": "{run}\n"},
    then=("check", Slot("{run}/out")),
    ready_url=Slot("http://127.0.0.1:{port}/v1/models"),
    total_steps=7,
    processes=2,
    devices=("3", "5"),
    device_count=2,
    needs="cards",
)
VALUES = {"run": "/runs/a b", "id": "a b", "port": "4321", "devices": "3,5"}


def test_only_slots_are_filled() -> None:
    filled = PLAN.filled(VALUES)
    assert filled.argv == ("py thon", "-m", "swift", "/runs/a b/out", "{run}", "--name=a b")
    assert filled.env == {"MASTER_PORT": "4321", "NOTE": "{port}"}
    assert (filled.then, filled.output_dir) == (("check", "/runs/a b/out"), "/runs/a b/output")
    assert filled.ready_url == "http://127.0.0.1:4321/v1/models"
    assert filled.files == {"sample.jsonl": "{run}\n"}


def test_a_gap_that_is_not_known_stays() -> None:
    assert Plan("train", (Slot("{run}/{other}"),)).filled(VALUES).argv == ("/runs/a b/{other}",)


def test_what_fills_a_gap_is_itself_not_filled() -> None:
    nasty = {"run": "/home/{port}/{id}", "id": "{run}", "port": "1"}
    assert Plan("train", (Slot("{run}:{id}:{port}"),)).filled(nasty).argv == ("/home/{port}/{id}:{run}:1",)


@pytest.mark.parametrize("plan", [PLAN, PLAN.filled(VALUES), Plan("merge", ("a",)), replace(PLAN, argv=tuple(AWKWARD))])
def test_a_plan_comes_back_from_json_with_its_slots(plan: Plan) -> None:
    again = plan_from_json(json.loads(json.dumps(plan.as_json())))
    assert again == plan
    words = zip(
        (*plan.argv, *plan.then, *plan.env.values()), (*again.argv, *again.then, *again.env.values()), strict=True
    )
    assert all(type(old) is type(new) for old, new in words)


@pytest.mark.parametrize("text", AWKWARD)
def test_the_shown_text_pasted_into_a_shell_runs_the_same_words(tmp_path: Path, text: str) -> None:
    program = tmp_path / "stand in"
    program.write_text('#!/bin/sh\nprintf "%s\\0" "$NOTE" "$@" >> words\n')
    program.chmod(0o755)
    plan = Plan(
        "train", (str(program), "--system", text, text, "--last"), env={"NOTE": text}, then=(str(program), text)
    )
    subprocess.run(["bash", "-c", str(plan)], cwd=tmp_path, check=True)
    words = (tmp_path / "words").read_bytes().decode().split("\0")[:-1]
    assert words == [text, *plan.argv[1:], text, *plan.then[1:]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stand in", "words"]
