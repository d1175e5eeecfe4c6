"""Which choices of ms-swift's main arguments run with the versions tried, and why the others do not.

marks.json is the outcome of trying each one (tests/real/test_marks.py tries them again).
"""

from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from services.errors import Key, Refused


@functools.cache
def _file() -> Mapping[str, Any]:
    return MappingProxyType(json.loads(Path(__file__).with_name("marks.json").read_bytes()))


def versions() -> str:
    """The versions with which the marks were made, for a sentence."""
    return ", ".join(f"{name} {version}" for name, version in _file()["versions"].items())


def unavailable(name: str, value: object, on_cpu: bool = False) -> Key | None:
    """Why ``value`` of the argument ``name`` cannot run with what is installed; None: it can, or nobody has tried."""
    mark = marks().get(name, {}).get(_mark_name(value), "runs")
    package = lacking(mark)
    if package:
        return Key("training.unavailable.needs", value=_choice(name, value), package=package)
    if mark == "only cards" and on_cpu:
        return Key("training.unavailable.cards", value=_choice(name, value))
    if mark.startswith("not "):
        return Key(f"training.unavailable.{mark[4:]}", value=_choice(name, value), versions=versions())
    return None


def refuse_unavailable(args: Mapping[str, Any], on_cpu: bool) -> None:
    """Raises Refused("choice_unavailable") for the first choice in ``args`` that was tried and cannot run here."""
    for name in marks():
        value = args.get(name)
        for one in value if isinstance(value, list | tuple) else [value]:
            reason = None if one is None else unavailable(name, one, on_cpu)
            if reason is not None:
                raise Refused("choice_unavailable", reason=reason)


def lacking(mark: str) -> str:
    """The package that a mark asks for and that is not installed, or ""."""
    kind, _, what = mark.partition(" ")
    if kind != "needs":
        return ""
    package, _, module = what.partition(" as ")
    try:
        found = importlib.util.find_spec(module or package.replace("-", "_"))
    except ImportError:  # not even the package around it
        found = None
    return "" if found else package


def marks() -> Mapping[str, Mapping[str, str]]:
    """Argument -> choice -> its mark.

    ``runs``; ``needs <package>`` or ``needs <package> as <module>``; ``only cards`` or ``only multimodal`` (it runs
    there); ``fetches`` (it downloads code at its start); ``not <code>``, where ``training.unavailable.<code>`` says
    why it does not run with these versions.
    """
    found: Mapping[str, Mapping[str, str]] = _file()["marks"]
    return found


def _mark_name(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choice(name: str, value: object) -> str:
    return f"--{name}" if isinstance(value, bool) else f"--{name} {value}"
