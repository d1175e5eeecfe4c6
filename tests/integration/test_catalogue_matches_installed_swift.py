"""The catalogue against the installed ms-swift: its dataclasses and its real parser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from services.swift.argument_help import help_file, help_of
from services.swift.catalogue import arguments, check, to_argv
from tests.real_parser import parse

ROOT = Path(__file__).resolve().parents[2]

NASTY = [
    *(
        "'; touch x; #",
        "$(touch x)",
        "`touch x`",
        "two\nlines\n",
        "--foo",
        "--foo bar",
        "--model=x",
        "-x",
        "-",
    ),
    *(
        "@file",
        "小黄 你好",
        "  spaces  ",
        "",
        "x.yaml",
        "--x.json",
        "%s {run}",
        '"',
        "\\",
        "-1e-5",
        "--- a",
        "a\tb",
    ),
]


def test_arguments_json_is_what_the_installed_swift_has() -> None:
    child = subprocess.run(
        [sys.executable, "-P", "-m", "services.swift.read_arguments"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    assert (
        child.stdout.splitlines() == (ROOT / "services/swift/arguments.json").read_text("utf-8").splitlines()
    )


def test_the_help_of_ms_swift_is_read_into_the_cache_once(tmp_path: Path) -> None:
    home = tmp_path / "home 家"
    command = [sys.executable, "-P", "-m", "services.swift.read_arguments", "--help-to-cache"]
    subprocess.run(command, env={**os.environ, "TUNEDESK_HOME": str(home)}, capture_output=True, check=True)
    for name, argument in (("sft", "lora_rank"), ("rlhf", "num_generations"), ("megatron sft", "system")):
        assert len(help_of(name, argument, home / "cache") or "") > 10
    written = help_file(home / "cache").stat().st_mtime_ns
    subprocess.run(command, env={**os.environ, "TUNEDESK_HOME": str(home)}, capture_output=True, check=True, timeout=5)
    assert help_file(home / "cache").stat().st_mtime_ns == written


@pytest.fixture(scope="module")
def sft() -> list[tuple[dict[str, object], dict[str, object]]]:
    """Many arguments for ``swift sft``, each with what the real parser makes of it."""
    wanted: list[dict[str, object]] = [
        *({"system": text} for text in NASTY),
        *({"dataset": [text]} for text in NASTY),
        *(
            {"dataset": [text, "b"]}
            for text in NASTY
            if not text.startswith("--") and text not in ("-x", "-1e-5")
        ),
        {
            "learning_rate": 1e-4,
            "target_modules": ["a", "b"],
            "packing": True,
            "seed": -1,
            "warmup_steps": -1e-05,
        },
        {
            "model_kwargs": {"名": [1, "--x"]},
            "max_memory": {0: "20GB"},
            "quant_bits": 4,
            "save_strategy": "no",
        },
        {
            "interleave_prob": [0.5, -0.5],
            "reft_layers": [-1, 2],
            "bf16": False,
            "debug": ["underflow_overflow"],
        },
        *_every_argument(),
    ]
    cleaned = [check("sft", args) for args in wanted]
    # A plan has other arguments too: a first word that ends in .json would be opened as a file.
    answers = parse("sft", [to_argv({"data_seed": 7, **args}) for args in cleaned])
    assert [answer["error"] for answer in answers if "error" in answer] == []
    return [(args, answer["ok"]) for args, answer in zip(cleaned, answers, strict=True)]


def _every_argument() -> list[dict[str, object]]:
    """One value for each argument of sft that can be given at all."""
    examples: dict[str, object] = {
        **{"int": 3, "float": 2.5e-05, "bool": True, "str": "小 x", "dict": {"a": 1}},
        **{"list[int]": [1, 2], "list[float]": [1e-05, 2.0], "list[str]": ["a b", "c"]},
    }
    found: list[dict[str, object]] = []
    for name, argument in arguments("sft").items():
        if name != "ignore_args_error" and argument.type != "unsettable":
            known = argument.known[:3] if argument.plugged else ()
            found += [{name: choice} for choice in argument.choices or known or (examples[argument.type],)]
    return found


def test_swift_reads_every_value_exactly_as_it_was_given(
    sft: list[tuple[dict[str, object], dict[str, object]]],
) -> None:
    for args, parsed in sft:
        for name, value in args.items():
            expected = value
            if isinstance(value, dict):
                expected = repr(value) if name == "max_memory" else json.dumps(value, ensure_ascii=False)
            if isinstance(value, list) or arguments("sft")[name].type.startswith("list["):
                expected = list(value) if isinstance(value, list) else [value]
            assert parsed[name] == expected, name


def test_what_was_not_given_keeps_its_default(sft: list[tuple[dict[str, object], dict[str, object]]]) -> None:
    given, parsed = sft[0]
    for name, argument in arguments("sft").items():
        if name not in given and name != "data_seed":
            assert (parsed[name] or None) == (argument.default or None), name


def test_what_check_refuses_is_really_unreadable_for_swift() -> None:
    answers = parse(
        "deploy",
        [
            ["--port", "8000", "--adapters", "a=/x", "b=/y"],
            ["--system=--"],
            ["--adapters", "a", "-b"],
            ["--adapters", "a", "--"],
            ["--tensor_parallel_size", "2"],
            ["--ckpt_dir", "x"],
            ["--check_model", "false"],
        ],
    )
    assert answers[0]["ok"]["adapters"] == ["a=/x", "b=/y"]
    assert answers[1].get("ok", {}).get("system") != "--"
    assert all("error" in answer for answer in answers[2:])
