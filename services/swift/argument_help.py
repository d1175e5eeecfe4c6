"""What ms-swift itself says about its arguments: the help of its fields, and the docstrings of its dataclasses.

``argument_help`` runs in the child that imports the trainer (read_arguments.py); ``help_of`` reads what that child
has written into the cache.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from pathlib import Path
from typing import Any

from services.settings import read_settings

_ENTRY = re.compile(r"^(\s*)`{0,2}(\w+)`{0,2}\s*(?:\([^\n]*\))?\s*:\s*(.*)$")

_HEADINGS = ("Args:", "Attributes:", "Parameters:")


def argument_help(parser: Any, swift_class: type) -> dict[str, str]:
    """Argument name -> its help, for those that have one."""
    found: dict[str, str] = {}
    for owner in reversed(swift_class.__mro__):
        found |= _described(owner.__dict__.get("__doc__") or "")
    names = {action.dest for action in parser._actions}
    found = {name: text for name, text in found.items() if name in names}
    for action in parser._actions:
        if action.help and action.dest not in found and action.help != "show this help message and exit":
            found[action.dest] = " ".join(str(action.help).split())
    return found


def _described(docstring: str) -> dict[str, str]:
    """The ``name (type): text`` entries of a docstring, each with the deeper lines below it."""
    found: dict[str, list[str]] = {}
    name, depth = "", 0
    for line in inspect.cleandoc(docstring).splitlines():
        entry = _ENTRY.match(line)
        indent = len(line) - len(line.lstrip())
        if line.strip() in _HEADINGS:
            name = ""
        elif entry and (not name or indent <= depth):
            name, depth = entry[2], indent
            found[name] = [entry[3]]
        elif name and indent > depth:
            found[name].append(line.strip())
        elif line.strip():
            name = ""
    return {name: " ".join(" ".join(lines).split()) for name, lines in found.items() if any(lines)}


def help_file(cache: Path) -> Path:
    """Where ``make install`` puts what ms-swift says about its arguments."""
    return cache / "swift-help.json"


def help_of(command: str, name: str, cache: Path | None = None) -> str | None:
    """ms-swift's own words about an argument, in English; None where it has none, or they were not read yet.

    ``cache``: TuneDesk's cache folder; default: that of the environment.
    """
    file = help_file(cache or read_settings().cache)
    try:
        return _help(file, file.stat().st_mtime_ns).get(command, {}).get(name)
    except (OSError, ValueError, KeyError):
        return None


@functools.lru_cache(maxsize=2)
def _help(file: Path, modified_ns: int) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(file.read_bytes())["help"]
    return found
