"""Amounts as a person reads them."""

from __future__ import annotations

import math

from services.text import say

GIB = 1 << 30
"""Bytes."""
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
COUNTS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))
HUGE = 1e12
"""From here on a number is written with its power of ten."""


def human_bytes(n: float) -> str:
    """``n`` bytes with one decimal: ``512 B``, ``1.5 KiB``, ``12.0 GiB``."""
    unit = 0
    while abs(n) >= 1023.95 and unit < len(_BYTES) - 1:  # 1023.95 would be shown as 1024.0
        n /= 1024
        unit += 1
    return f"{n:.0f} B" if unit == 0 else f"{n:.1f} {_BYTES[unit]}"


def human_seconds(s: float, lang: str = "en") -> str:
    """The largest parts of ``s`` seconds: ``0.4 s``, ``42 s``, ``6 min 20 s``, ``2 h 5 min``, ``3 d 4 h``."""
    if not math.isfinite(s):
        return "–"
    s = max(s, 0.0)
    if s < 9.95:
        return say("window.unit.seconds", lang, seconds=f"{s:.1f}".removesuffix(".0"))
    minutes, seconds = divmod(round(s), 60)
    if minutes == 0:
        return say("window.unit.seconds", lang, seconds=seconds)
    if minutes < 60:
        return say("window.unit.minutes", lang, minutes=minutes, seconds=seconds)
    hours, minutes = divmod(round(s / 60), 60)
    if hours < 24:
        return say("window.unit.hours", lang, hours=hours, minutes=minutes)
    days, hours = divmod(round(s / 3600), 24)
    return say("window.unit.days", lang, days=days, hours=hours)


def human_count(n: float) -> str:
    """``999``, ``1.2k``, ``135M``, ``7.6B``: three digits at most, whole numbers whole."""
    for size, suffix in COUNTS:
        if abs(n) >= size * 0.9995:
            scaled = n / size
            return f"{scaled:.{1 if abs(scaled) < 99.95 else 0}f}".removesuffix(".0") + suffix
    return f"{n:.0f}" if float(n).is_integer() else human_number(n)


def human_number(x: float) -> str:
    """A measured value with three significant digits: ``1e-4``, ``0.0834``, ``4.6``, ``1.23k``."""
    if x == 0:
        return "0"
    if not math.isfinite(x):
        return "NaN" if math.isnan(x) else ("∞" if x > 0 else "-∞")
    if abs(x) < 0.00095 or abs(x) >= HUGE:
        return scientific(x, 2)
    suffix = ""
    for size, name in COUNTS:
        if abs(x) >= size * 0.9995:
            x, suffix = x / size, name
            break
    return trimmed(f"{x:.{max(0, 2 - math.floor(math.log10(abs(x))))}f}") + suffix


def scientific(x: float, digits: int) -> str:
    """``x`` as ``2.5e-4``, with at most ``digits`` digits after the point."""
    mantissa, _, exponent = f"{x:.{digits}e}".partition("e")
    return f"{trimmed(mantissa)}e{int(exponent)}"


def trimmed(text: str) -> str:
    """A decimal number without the zeros at its end."""
    return text.rstrip("0").removesuffix(".") if "." in text else text
