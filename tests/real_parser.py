"""ms-swift's own command line parser, run in one child: the judge of every plan."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]


def parse(command: str, argv_list: list[list[str]]) -> list[dict[str, Any]]:
    """What ``swift <command>`` makes of each argv (the words after the command), in order.

    Each is ``{"ok": {argument name: JSON value}}``, for all arguments of the command, or
    ``{"error": text}``. Nothing is loaded: the words are parsed as ms-swift parses them, and the
    dataclass is not made. Importing ms-swift takes 10 to 20 seconds, so ask for many at once.
    """
    child = subprocess.run(
        [sys.executable, "-P", str(Path(__file__).resolve())],
        input=json.dumps({"command": command, "argv_list": argv_list}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if child.returncode:
        raise RuntimeError(child.stderr[-4000:])
    answers: list[dict[str, Any]] = json.loads(child.stdout)
    return answers


def _main() -> None:
    sys.path.insert(0, str(PROJECT))
    question = json.loads(sys.stdin.buffer.read())
    with contextlib.redirect_stdout(sys.stderr):
        answers = _answers(question["command"], question["argv_list"])
    sys.stdout.write(json.dumps(answers))


def _answers(command: str, argv_list: list[list[str]]) -> list[dict[str, Any]]:
    from services.swift.read_arguments import parser_of

    parser, swift_class = parser_of(command)

    def refuse(message: str) -> None:
        raise ValueError(message)

    parser.error = refuse
    return [_answer(parser, swift_class, argv) for argv in argv_list]


def _answer(parser: Any, swift_class: Any, argv: list[str]) -> dict[str, Any]:
    from swift.cli.main import parse_yaml_args
    from torch.distributed.run import get_args_parser

    try:
        words = list(argv)
        parse_yaml_args(words)  # as `swift` does before it starts the command, or torchrun
        through_torchrun = get_args_parser().parse_args(["--nproc_per_node", "2", "sft.py", *words])
        if through_torchrun.training_script_args != words:
            return {"error": f"torchrun passes on {through_torchrun.training_script_args}"}
        found, rest = parser.parse_known_args(words)
    except (Exception, SystemExit) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    if rest:
        return {"error": f"not understood: {rest}"}
    names = {name for name in vars(found) if name in swift_class.__dataclass_fields__}
    return {"ok": {name: _json_value(getattr(found, name)) for name in sorted(names)}}


def _json_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_json_value(one) for one in value]
    value = getattr(value, "value", value)  # an enumeration's member
    return value if value is None or isinstance(value, str | int | float | bool | dict) else str(value)


if __name__ == "__main__":
    _main()
