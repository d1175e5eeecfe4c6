"""One ms-swift argument, and how a value that a person gave it becomes one of its type."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from services.errors import Refused

TRUE, FALSE = {"true", "yes", "t", "y", "1"}, {"false", "no", "f", "n", "0"}


@dataclass(frozen=True)
class Argument:
    """One argument of one command.

    ``type`` is int, float, bool, str, list[int], list[float], list[str], dict (a JSON object, or a
    text that ms-swift knows: a file, a name), or unsettable (ms-swift cannot read it from a command
    line). ``choices`` is None where any value of that type will do, ``default`` where there is none.
    ``known`` are values that ms-swift is known to take though it declares none. Where ``plugged``, only a
    plugin can bring one beyond its choices or known values.
    """

    name: str
    type: str
    choices: tuple[object, ...] | None = None
    default: object = None
    known: tuple[str, ...] = ()
    plugged: bool = False


def typed(argument: Argument, value: object) -> object:
    """``value`` as ``argument``'s type, or None where it only means the default.

    Raises Refused("argument_value", name, value, allowed).
    """
    if argument.choices and value in ("None", "none", "null") and value not in argument.choices:
        return None
    kind = argument.type.removeprefix("list[").removesuffix("]")
    try:
        if kind == argument.type:
            return _one(argument, kind, value)
        values = list(value) if isinstance(value, list | tuple) else [value]
        if not values and argument.default:
            raise ValueError("the default is not empty, and an empty list cannot be said")
        return [_one(argument, kind, one) for one in values] or None
    except (ValueError, OverflowError, RecursionError, SyntaxError):
        raise Refused(
            "argument_value", name=argument.name, value=short(value), allowed=_allowed(argument)
        ) from None


def _one(argument: Argument, kind: str, value: object) -> object:
    if argument.choices is None:
        return READERS[kind](value)
    if value is False and "no" in argument.choices:  # what YAML makes of a bare no
        value = "no"
    by_text = {str(choice): choice for choice in argument.choices}
    text = str(value).strip()
    if text not in by_text:
        raise ValueError(text)
    return by_text[text]


def _bool(value: object) -> bool:
    text = str(value).strip().lower()
    if text not in TRUE | FALSE:
        raise ValueError(text)
    return text in TRUE


def _int(value: object) -> int:
    try:
        return int(_text(value))
    except ValueError:
        number = float(_text(value))  # 1e3 and 3.0 are whole numbers too
        if not number.is_integer():
            raise
        return int(number)


def _float(value: object) -> float:
    text = _text(value)
    number = float(text)
    if math.isnan(number):
        raise ValueError(text)
    return int(text) if re.fullmatch(r"\s*[+-]?\d+\s*", text) else number


def _text(value: object) -> str:
    """For numbers: no yes or no, no list."""
    if isinstance(value, bool | list | tuple | Mapping):
        raise ValueError(value)
    return str(value)


def _str(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple | Mapping):
        raise ValueError(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _dict(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return json.dumps(value, ensure_ascii=False)
    text = _str(value)
    if not text.lstrip().startswith("{"):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        found = ast.literal_eval(text.strip())
    if not isinstance(found, dict):
        raise ValueError(text)
    return found


def _unsettable(value: object) -> object:
    raise ValueError(value)


READERS: dict[str, Callable[[object], object]] = {
    "bool": _bool,
    "dict": _dict,
    "float": _float,
    "int": _int,
    "str": _str,
    "unsettable": _unsettable,
}

_EXAMPLES = {
    "bool": "true, false",
    "dict": '{"key": "value"} (JSON)',
    "float": "0.5, 1e-4, … (float)",
    "int": "1, 2, 3, … (int)",
    "list[float]": "0.5 1.5 … (float …)",
    "list[int]": "1 2 … (int …)",
    "list[str]": "a b … (str …)",
    "str": '"…" (str)',
    "unsettable": "—",
}


def _allowed(argument: Argument) -> str:
    if argument.choices is None:
        return _EXAMPLES[argument.type]
    return ", ".join(str(choice) for choice in argument.choices)


def words(value: object) -> list[str]:
    """The words of a value that may be one or several; none for what is empty."""
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)] if value else []


def short(value: object) -> str:
    """The beginning of ``value``, for a sentence."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:79] + "…"
