"""The command line's own part: its flags, its languages, how an error becomes an exit code."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner

from services import cli
from services.errors import Failed, Refused
from services.runs.folder import Record, RunState
from services.text import explain

PROMISED = {
    "demo": ["--name", "--author", "--json"],
    "train": ["--dry-run", "--detach", "--now", "--json"],
    "runs": ["--json"],
    "show": ["--json"],
    "stop": ["--now"],
    "resume": [],
    "merge": ["--base", "--json"],
    "chat": ["-m", "--system", "--max-tokens", "--json"],
    "serve": [],
    "delete": [],
}


@pytest.mark.parametrize("command", PROMISED)
def test_every_promised_flag_is_there(command: str) -> None:
    shown = CliRunner().invoke(cli.app, [command, "--help"])
    assert shown.exit_code == 0
    assert [flag for flag in (*PROMISED[command], "--lang") if flag not in shown.output] == []


def test_without_a_command_there_are_the_windows_flags() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"]).output
    assert all(flag in shown for flag in ("--host", "--port", "--share", "--lang", "--no-browser"))


@pytest.mark.parametrize(
    ("error", "code"), [(Refused("run_not_found", run="x"), 2), (Failed("server_ended", name="x"), 1)]
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_error_is_a_sentence_and_an_exit_code(
    error: Refused | Failed, code: int, lang: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli.context, "lang", lang)
    details: list[str] = []
    with pytest.raises(SystemExit) as ended, cli._sentences(details.append):
        raise error
    out, err = capsys.readouterr()
    assert (ended.value.code, out, details) == (code, "", [""])
    assert ("没有" in err or "服务" in err) == (lang == "zh")


@pytest.mark.parametrize(
    ("state", "error", "parts"),
    [
        (RunState.STOPPED, None, ["stopped"]),
        (RunState.LOST, None, ["lost"]),
        (
            RunState.FAILED,
            {"code": "disk_full", "values": {"what": "No space"}, "line": ""},
            ["disk is full", "No space"],
        ),
    ],
)
def test_a_run_that_did_not_succeed_is_a_failure_with_its_reason(state: RunState, error: Any, parts: list[str]) -> None:
    with pytest.raises(Failed) as caught:
        cli._raise_unless_succeeded(Record("i", "robot", "train", state, error=error))
    text = explain(caught.value, "en")
    assert "robot" in text and all(part in text for part in parts)
    cli._raise_unless_succeeded(Record("i", "robot", "train", RunState.SUCCEEDED))


@pytest.mark.parametrize(("value", "shown"), [(1.5, 1.5), (float("nan"), None), (float("-inf"), None)])
def test_json_holds_only_numbers_that_json_has(value: float, shown: float | None) -> None:
    assert cli._finite(value) == shown


def test_the_command_line_loads_neither_the_trainer_nor_the_window() -> None:
    code = "import sys, services.cli; print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"torch", "transformers", "swift", "peft", "vllm", "gradio"} & set(shown.split())


def test_what_the_system_refuses_is_a_sentence_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, cli._sentences(print):
        raise PermissionError(13, "Permission denied", "/data/runs")
    assert ended.value.code == 1 and "Permission denied: '/data/runs'" in capsys.readouterr().err


def test_a_terminal_without_chinese_shows_codes_instead() -> None:
    code = "import sys, services.cli as cli; cli.app = lambda: print('\u957f'); cli.main()"
    environment = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    assert shown.stdout == b"\\u957f\n"


@pytest.mark.parametrize("port", ["0", "-1", "99999"])
def test_a_port_that_cannot_be_is_refused(port: str) -> None:
    assert CliRunner().invoke(cli.app, ["--port", port]).exit_code == 2


def test_columns_are_even_where_a_character_takes_two() -> None:
    shown = [cli.padded(text, 8) for text in ("done", "已完成", "long enough")]
    assert shown == ["done    ", "已完成  ", "long enough"]
