"""Every word a person reads: in both languages, with the same gaps, and none too many or too few."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from services.errors import Failed, Key, Refused
from services.text import LANGUAGES, WORDS, explain, say

PROJECT = Path(__file__).resolve().parents[2]
ROOMS = {key.partition(".")[0] for key in WORDS}
KEY = re.compile(rf"({'|'.join(sorted(ROOMS))})(\.[a-z0-9_]+)+")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SPEAKERS = {"say", "t", "report", "Key"}
"""Functions that take a key first; whatever else they are given by name fills its gaps."""
SAME_IN_BOTH = {
    "Beta", "CPU", "DDP", "DoRA", "FSDP2", "LoRA", "LoRA alpha", "LoRA dropout", "Megatron", "Python", "QLoRA", "Top-p",
    "ZeRO-0", "ZeRO-1", "ZeRO-2", "ZeRO-3", "logits", "rsLoRA",
}  # fmt: skip


def gaps(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@cache
def sources() -> tuple[tuple[str, ast.Module], ...]:
    """(path, syntax tree) of all code that may speak, the tables themselves left out."""
    tables = PROJECT / "services" / "text"
    paths = [
        path for room in ("services", "gui") for path in (PROJECT / room).rglob("*.py") if tables not in path.parents
    ]
    return tuple((str(path.relative_to(PROJECT)), ast.parse(path.read_text("utf-8"))) for path in paths)


def nodes() -> Iterator[tuple[str, ast.AST]]:
    for path, tree in sources():
        for node in ast.walk(tree):
            yield path, node


def literals() -> set[str]:
    return {node.value for _, node in nodes() if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def spoken() -> Iterator[tuple[str, str, ast.Call]]:
    """(where, key, call) of each call that names its key itself."""
    for path, node in nodes():
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first = node.args[0].value
            if name in ("Refused", "Failed"):
                yield f"{path}:{node.lineno}", f"error.{first!s}", node
            elif name in SPEAKERS and isinstance(first, str) and KEY.fullmatch(first):
                yield f"{path}:{node.lineno}", first, node


def made_of_parts() -> set[str]:
    """The beginnings of keys that are put together, as in f"runs.state.{state}" or "runs.state." + state."""
    found = {text for text in literals() if KEY.fullmatch(text.removesuffix(".")) and text.endswith(".")}
    for _, node in nodes():
        if isinstance(node, ast.JoinedStr) and len(node.values) > 1 and isinstance(node.values[0], ast.Constant):
            found.add(str(node.values[0].value))
    return {text for text in found if text.endswith(".") and text.partition(".")[0] in ROOMS}


@pytest.mark.parametrize("key", WORDS)
def test_both_languages_say_it_with_the_same_gaps(key: str) -> None:
    english, chinese = WORDS[key]
    assert english.strip() and chinese.strip()
    assert gaps(english) == gaps(chinese)
    assert not CHINESE.search(english)
    only_gaps = not re.search(r"[A-Za-z]{2}", re.sub(r"\{[^}]*\}", "", english))
    assert CHINESE.search(chinese) or only_gaps or english in SAME_IN_BOTH
    assert english == english.strip() or key.startswith("cli.")


def test_every_key_that_is_spoken_exists() -> None:
    assert [(where, key) for where, key, _ in spoken() if key not in WORDS] == []


def test_every_gap_is_filled_where_it_is_spoken() -> None:
    unfilled = []
    for where, key, call in spoken():
        given = {keyword.arg for keyword in call.keywords}
        missing = gaps(WORDS[key][0]) - given if key in WORDS and None not in given else set()
        if missing and not (isinstance(call.func, ast.Name) and call.func.id == "t"):
            unfilled.append((where, key, missing))
    assert unfilled == []


def test_no_key_is_left_that_nobody_speaks() -> None:
    texts, beginnings = literals(), made_of_parts()

    def used(key: str) -> bool:
        room, _, name = key.partition(".")
        parts = any(key.startswith(text) and (text.count(".") > 1 or name in texts) for text in beginnings)
        return key in texts or parts or (room == "error" and name in texts)

    assert [key for key in WORDS if not used(key)] == []


def test_every_kind_of_state_reason_and_failure_has_its_words() -> None:
    from services.runs import diagnosis
    from services.runs.folder import RunState
    from services.swift import log

    codes = {code for code, _ in diagnosis._RULES} | {"killed", "trainer_error", "exited", "cannot_start"}
    needed = [f"runs.state.{state.value}" for state in RunState]
    needed += [f"runs.phase.{state.value}" for state in RunState] + [f"runs.phase.{name}" for _, name in log._PHASES]
    needed += [f"runs.failure.{code}" for code in codes] + [f"runs.kind.{kind}" for kind in ("train", "merge", "serve")]
    assert [key for key in needed if key not in WORDS] == []


def test_an_error_says_what_happened_in_both_languages() -> None:
    error = Refused("run_not_found", run="robot")
    assert {explain(error, lang) for lang in LANGUAGES} == {
        "There is no run “robot”. `tunedesk runs` lists them all.",
        "没有运行“robot”。`tunedesk runs` 会列出全部运行。",
    }


def test_a_value_that_is_a_key_is_put_into_words() -> None:
    error = Failed("strategy_impossible", strategy="zero3", reason=Key("training.reason.zero3_cpu"))
    assert say("training.reason.zero3_cpu", "zh") in explain(error, "zh")
    assert "training.reason" not in explain(error, "en")


def test_what_a_person_typed_is_no_gap() -> None:
    assert "{run} {0}" in explain(Refused("run_not_found", run="{run} {0}"), "en")
