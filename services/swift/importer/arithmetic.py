"""What ``$((…))`` and ``expr`` come to: whole numbers as a shell counts them, and nothing else."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

LARGEST = 1 << 63


class NotANumber(Exception):
    """Cannot be worked out."""


def _divided(left: int, right: int) -> int:
    """Towards zero, as a shell divides."""
    if right == 0:
        raise NotANumber("division by zero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _power(base: int, exponent: int) -> int:
    if not 0 <= exponent < 64:
        raise NotANumber("exponent")
    return int(base**exponent)


def _shifted(left: int, right: int) -> int:
    if not 0 <= right < 63:
        raise NotANumber("shift")
    return left << right


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": lambda left, right: left - _divided(left, right) * right,
    "**": _power,
    "<<": _shifted,
    ">>": lambda left, right: left >> right if 0 <= right < 63 else 0,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "&&": lambda left, right: int(bool(left and right)),
    "||": lambda left, right: int(bool(left or right)),
    "==": lambda left, right: int(left == right),
    "!=": lambda left, right: int(left != right),
    "<": lambda left, right: int(left < right),
    "<=": lambda left, right: int(left <= right),
    ">": lambda left, right: int(left > right),
    ">=": lambda left, right: int(left >= right),
}


def apply(sign: str, left: int, right: int) -> int:
    """``left sign right``. Raises NotANumber where it is not defined or leaves 64 bits."""
    if sign not in OPERATORS:
        raise NotANumber(sign)
    found = OPERATORS[sign](left, right)
    if not -LARGEST <= found < LARGEST:
        raise NotANumber("too large")
    return found


def number(text: str) -> int:
    """A literal: decimal, 0x… or 0…, an empty text is 0. Raises NotANumber."""
    text = text.strip()
    digits = text.lstrip("+-")
    if len(text) > 20 or not digits.isascii() or not digits.isalnum():
        if text == "":
            return 0
        raise NotANumber(text)
    try:
        octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
        return int(text, 8 if octal else 0)
    except ValueError:
        raise NotANumber(text) from None


_LEVELS: tuple[tuple[str, ...], ...] = (
    ("|",), ("&",), ("=", "==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip


def expr(words: Sequence[str]) -> int:
    """What ``expr`` prints for ``words``. Raises NotANumber for what is not whole-number arithmetic."""
    if len(words) > 200:
        raise NotANumber("too long")
    found, rest = _level(list(words), 0)
    if rest:
        raise NotANumber(rest[0])
    return found


def _level(words: list[str], level: int) -> tuple[int, list[str]]:
    if level == len(_LEVELS):
        return _operand(words)
    left, rest = _level(words, level + 1)
    while rest and rest[0] in _LEVELS[level]:
        sign = {"=": "==", "|": "||", "&": "&&"}.get(rest[0], rest[0])
        right, rest = _level(rest[1:], level + 1)
        left = apply(sign, left, right)
    return left, rest


def _operand(words: list[str]) -> tuple[int, list[str]]:
    if not words:
        raise NotANumber("")
    if words[0] == "(":
        found, rest = _level(words[1:], 0)
        if rest[:1] != [")"]:
            raise NotANumber("(")
        return found, rest[1:]
    if not words[0].lstrip("-").isdigit():
        raise NotANumber(words[0])
    return int(words[0]) if len(words[0]) < 20 else number(words[0]), words[1:]
