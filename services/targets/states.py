"""How the nodes of a run are, for whoever shows it: a file of each attempt, written by the lead."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import orjson

from services.runs.folder import RunFolder, write_whole


def write_node_states(folder: RunFolder, attempt: int, states: list[dict[str, Any]]) -> None:
    with contextlib.suppress(OSError):
        write_whole(_file(folder, attempt), orjson.dumps(states))


def node_states(folder: RunFolder, attempt: int) -> list[dict[str, Any]]:
    """``{"node", "rank", "state", "exit_code"}`` of each node of an attempt; empty for a run on one machine.

    ``state`` is starting, running, ended, failed or lost.
    """
    try:
        value = orjson.loads(_file(folder, attempt).read_bytes())
    except (OSError, ValueError):
        return []
    return value if isinstance(value, list) else []


def _file(folder: RunFolder, attempt: int) -> Path:
    return folder.attempt(attempt) / "nodes.json"
