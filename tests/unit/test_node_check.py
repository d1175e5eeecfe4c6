"""Reaching nodes and asking whether they are fit."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from services.errors import Key, Refused
from services.plan import Plan
from services.runs.process import Result
from services.target_specs import node
from services.targets import ssh
from services.targets.check import Wanted, ask, joined, paths_of, refuse_unfit, report, report_as_json
from services.text import explain, say
from tests.target_plans import TWO

# ── reaching a node ──


def test_what_ssh_hands_to_the_shell_at_the_other_end_is_quoted() -> None:
    argv = ssh.reach(node("ann@b:2222"), ["/my venv/python", "-c", "print('$HOME')"], ssh_config="/c f")
    assert argv[:4] == ("ssh", "-T", "-F", "/c f")
    assert "BatchMode=yes" in argv and argv[argv.index("-p") + 1] == "2222" and argv[argv.index("-l") + 1] == "ann"
    assert argv[-3:-1] == ("--", "b")
    assert shlex.split(argv[-1]) == ["/my venv/python", "-c", "print('$HOME')"]


def test_this_machine_is_reached_without_ssh() -> None:
    assert ssh.reach(node("here slots=2"), ["a", "b"]) == ("a", "b")


# ── the check ──

FIT = {
    "tunedesk": "1", "ms-swift": "4", "missing": [], "shared": True, "port_free": True, "time": 50.0, "cores": 2,
    "cards": ["H100", "H100"],
}  # fmt: skip
WANTED = Wanted(cards=2, token="/home/runs/.seen", port=29500, swift="4", tunedesk="1")


def problems_of(**facts: Any) -> list[str]:
    output = "Welcome to B\n" + json.dumps({"here": {**FIT, **facts}}) + "\n"
    found = report(node("b"), 0, WANTED, Result(0, output), (49.0, 51.0))
    for lang in ("en", "zh"):
        assert "{" not in report_as_json(found, lang)["line"]
    return [one["code"] for one in report_as_json(found, "en")["problems"]]


def test_a_node_that_has_everything_is_fit_whatever_its_login_prints() -> None:
    assert problems_of() == []


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"ms-swift": "3"}, "version"), ({"tunedesk": ""}, "version"), ({"missing": ["/data/a"]}, "missing"),
        ({"shared": False}, "not_shared"), ({"port_free": False}, "port"), ({"time": 10.0}, "clock"),
        ({"time": 90.0}, "clock"), ({"cards": ["H100"]}, "cards"),
    ],
)  # fmt: skip
def test_what_a_node_lacks_is_named(facts: dict[str, Any], code: str) -> None:
    assert problems_of(**facts) == [code]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("ann@b: Permission denied (publickey).", "login"), ("Host key verification failed.", "host_key"),
        ("ssh: Could not resolve hostname b: Name or service not known", "name"),
        ("ssh: connect to host b port 22: Connection refused", "refused"),
        ("ssh: connect to host b port 22: Connection timed out", "unreachable"),
        ("ssh: connect to host b port 22: No route to host", "unreachable"),
        ("/venv/bin/python: Error while finding module specification for 'services.targets.node' "
         "(ModuleNotFoundError: No module named 'services')", "not_installed"),
        ("bash: line 1: /venv/bin/python: No such file or directory", "no_python"), ("", "no_answer"),
    ],
)  # fmt: skip
def test_a_node_that_cannot_be_asked_says_why_in_our_words(said: str, code: str) -> None:
    found = ask(node("b"), 1, TWO, WANTED, lambda *_, **__: Result(255, said))
    assert [key.removeprefix("targets.problem.") for key in found.problems] == [code]
    assert said in say(found.line, "en", **found.line.values)


def test_one_unfit_node_refuses_the_start_with_a_line_for_each() -> None:
    good = report(node("a"), 0, WANTED, Result(0, json.dumps({"here": FIT})), (49.0, 51.0))
    bad = report(node("b"), 1, WANTED, Result(255, "Connection refused"), (49.0, 51.0))
    refuse_unfit([good, good])
    with pytest.raises(Refused) as caught:
        refuse_unfit([good, bad])
    lines = explain(caught.value, "en").splitlines()
    assert lines[1].startswith("a: ready") and lines[2].startswith("b: no SSH server")


def test_the_files_that_the_command_names_must_be_on_every_node(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").touch()
    data, step = f"{tmp_path}/rows.jsonl#50", str(tmp_path)
    plan = Plan("train", ("py", "--dataset", data, "--resume_from_checkpoint", step, "--model", "owner/name"))
    assert paths_of(plan) == (str(tmp_path / "rows.jsonl"),)


def test_several_sentences_are_joined_in_both_languages() -> None:
    keys = [Key("targets.problem.port", port=n) for n in (1, 2, 3)]
    assert all(f"{n}" in say(both, "en", **both.values) for both in [joined(keys, "targets.below")] for n in (1, 2, 3))
