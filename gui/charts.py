"""Charts, progress bars and meters as plain HTML and inline SVG: no script, nothing to load.

Colours and layout come from assets/charts.css. The text stands around the SVG and not in it, so
that the drawing can take any width while the letters keep their size.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from services.text import say
from services.units import COUNTS, HUGE, human_number, scientific, trimmed

MAX_POINTS = 300
_SIDE = 1000
"""The drawing's own width and height; the page stretches it."""

_TOO_LARGE = 1e300
"""No measured value; spans of such numbers would overflow. NaN is not below it either."""

Value = float | None
Point = tuple[float, float]


def line_chart(
    points: Sequence[tuple[float, Value]],
    *,
    title: str,
    unit: str = "",
    empty: str,
    height: int = 110,
    from_zero: bool = False,
    lang: str = "en",
) -> str:
    """A line through ``points`` (step, value), ``height`` pixels high and as wide as its place.

    None, NaN and infinite values are gaps, marked and counted in red. A step that comes again (after
    a resume) replaces what was drawn from there on. At most 300 points are drawn; peaks survive.
    ``from_zero`` keeps 0 in sight. Without a value the sentence ``empty`` is shown.
    """
    kept = _latest(points)
    real = [(x, y) for x, y in kept if y is not None]
    wrong = [x for x, y in kept if y is None]
    last = _with_unit(human_number(real[-1][1]), unit) if real else ""
    if real:
        x_axis, y_axis = _Axis.of_steps(x for x, _ in kept), _Axis.of_values((y for _, y in real), from_zero)
        name = f"{title}: {last} ({human_number(_low(real))} – {human_number(_high(real))})"
        body = (
            f'<div class="td-plot" style="height:{height}px">{_svg(kept, wrong, x_axis, y_axis, name)}'
            f"{y_axis.labels('top')}</div>"
            f'<div class="td-steps" aria-hidden="true">{x_axis.labels("left")}</div>'
        )
    else:
        body = f'<div class="td-empty" style="min-height:{height}px">{escape(empty)}</div>'
    notice = f'<span class="td-wrong">⚠ {say("window.chart.not_numbers", lang, n=len(wrong))}</span>'
    return (
        f'<figure class="td-chart"><figcaption><span class="td-title">{escape(title)}</span>'
        f'{notice if wrong else ""}<span class="td-last">{escape(last)}</span></figcaption>{body}</figure>'
    )


def progress_bar(fraction: float | None, label: str) -> str:
    """A bar filled to ``fraction`` (0 to 1) under ``label``; None: busy, of unknown length."""
    known = fraction is not None and math.isfinite(fraction)
    percent = round(min(max(fraction or 0.0, 0.0), 1.0) * 100, 1) if known else 0.0
    now = f' aria-valuenow="{percent:g}"' if known else ""
    fill = f'<i style="width:{percent:g}%"></i>' if known else '<i class="td-busy"></i>'
    return (
        f'<div class="td-progress"><div class="td-bar" role="progressbar" aria-label="{escape(label)}" '
        f'aria-valuemin="0" aria-valuemax="100"{now}>{fill}</div>'
        f'<div class="td-bar-label">{escape(label)}</div></div>'
    )


def meter(label: str, used: float, total: float, text: str, *, warns: bool = True) -> str:
    """``used`` of ``total`` as one line: ``label``, a bar that turns red when nearly full if it ``warns``, ``text``."""
    share = used / total if total > 0 and math.isfinite(used) else 0.0
    percent = round(min(max(share, 0.0), 1.0) * 100, 1)
    level = "" if not warns else " td-full" if percent >= 95 else " td-high" if percent >= 85 else ""
    return (
        f'<div class="td-meter{level}"><span class="td-meter-label">{escape(label)}</span>'
        f'<div class="td-bar" role="meter" aria-label="{escape(label)}" aria-valuemin="0" aria-valuemax="100" '
        f'aria-valuenow="{percent:g}" aria-valuetext="{escape(text)}"><i style="width:{percent:g}%"></i></div>'
        f'<span class="td-meter-text">{escape(text)}</span></div>'
    )


class _Axis:
    """A range of numbers, its ticks, and where a number lies on it."""

    def __init__(self, low: float, high: float, step: float) -> None:
        self.low, self.high, self.step = low, high, step
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        self.ticks = [tick * step for tick in range(first, last + 1)]

    @classmethod
    def of_steps(cls, xs: Iterable[float]) -> _Axis:
        """From the first to the last step, about four ticks at round numbers between."""
        values = list(xs)
        low, high = min(values), max(values)
        whole = all(float(value).is_integer() for value in values)
        steps = [step for step in _round_steps(high - low) if step.is_integer() or not whole]
        return min((cls(low, high, step) for step in steps), key=lambda axis: abs(len(axis.ticks) - 4))

    @classmethod
    def of_values(cls, ys: Iterable[float], from_zero: bool) -> _Axis:
        """Widened as little as possible to round numbers at both ends, with three or four ticks."""
        values = list(ys)
        low, high = min(values), max(values)
        if from_zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if high - low <= abs(high) * 1e-9:  # a flat line lies in the middle
            room = abs(high) / 2 or 0.5
            low, high = low - room, high + room
        wide = [
            cls(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step)
            for step in _round_steps(high - low)
        ]
        return min(wide, key=lambda axis: (not 3 <= len(axis.ticks) <= 4, axis.high - axis.low, axis.step))

    def at(self, value: float) -> float:
        """The place of ``value``, 0 to 1."""
        return 0.5 if self.high == self.low else (value - self.low) / (self.high - self.low)

    def labels(self, side: str) -> str:
        """The ticks' numbers as HTML, placed by percentage of ``side`` ("left", or "top" and upwards)."""
        parts = []
        for tick, label in zip(self.ticks, _tick_labels(self.ticks, self.step), strict=True):
            place = self.at(tick)
            edge = ' class="td-first"' if place < 0.03 else ' class="td-last-tick"' if place > 0.97 else ""
            percent = (1 - place if side == "top" else place) * 100
            parts.append(f'<span{edge if side == "left" else ""} style="{side}:{percent:.4g}%">{label}</span>')
        return (
            f'<span class="td-values" aria-hidden="true">{"".join(parts)}</span>' if side == "top" else "".join(parts)
        )


def _svg(kept: Sequence[tuple[float, Value]], wrong: Sequence[float], x: _Axis, y: _Axis, name: str) -> str:
    placed = [(x.at(px), None if py is None else y.at(py)) for px, py in kept]
    pieces = list(_pieces(thinned(placed)))
    floor = _SIDE
    grid = "".join(f"M0 {_SIDE - y.at(tick) * _SIDE:.0f}h{_SIDE}" for tick in y.ticks)
    line = "".join("M" + "L".join(map(_place, piece)) + ("h0" if len(piece) == 1 else "") for piece in pieces)
    area = "".join(
        f"M{piece[0][0] * _SIDE:.0f} {floor}L{'L'.join(map(_place, piece))}V{floor}z"
        for piece in pieces
        if len(piece) > 1
    )
    marks = "".join(f"M{at:.0f} 0V{floor}" for at in sorted({round(x.at(px) * _SIDE) for px in wrong})[:MAX_POINTS])
    end = pieces[-1][-1]
    return (
        f'<svg viewBox="0 0 {_SIDE} {_SIDE}" preserveAspectRatio="none" width="100%" height="100%" role="img" '
        f'aria-label="{escape(name)}"><title>{escape(name)}</title>'
        f'<path class="td-grid" d="{grid}"/><path class="td-area" d="{area}"/>'
        f'<path class="td-gap" d="{marks}"/><path class="td-line" d="{line}"/>'
        f'<path class="td-end" d="M{_place(end)}h0"/></svg>'
    )


def _place(point: Point) -> str:
    return f"{point[0] * _SIDE:.0f} {_SIDE - point[1] * _SIDE:.0f}"


def thinned(points: Sequence[tuple[float, Value]]) -> list[tuple[float, Value]]:
    """At most MAX_POINTS values of ``points``: the first, the last, and the extremes of each stretch between."""
    if len(points) <= MAX_POINTS:
        return list(points)
    buckets = (MAX_POINTS - 2) // 2
    inner = points[1:-1]
    kept: list[tuple[float, Value]] = [points[0]]
    for n in range(buckets):
        bucket = inner[n * len(inner) // buckets : (n + 1) * len(inner) // buckets]
        real = [(value, i) for i, (_, value) in enumerate(bucket) if value is not None]
        gaps = [i for i, (_, value) in enumerate(bucket) if value is None]
        chosen = {min(real)[1], max(real)[1]} if real else set()
        kept += [bucket[i] for i in sorted(chosen | set(gaps[:1]))]
    return [*kept, points[-1]]


def _pieces(points: Iterable[tuple[float, Value]]) -> Iterator[list[Point]]:
    """The stretches without a gap."""
    for is_gap, group in itertools.groupby(points, key=lambda point: point[1] is None):
        if not is_gap:
            yield [(x, y) for x, y in group if y is not None]


def _latest(points: Iterable[tuple[float, Value]]) -> list[tuple[float, Value]]:
    """``points`` by step, the later of two tellings of the same stretch; what is no number becomes None."""
    kept: list[tuple[float, Value]] = []
    for x, y in points:
        while kept and kept[-1][0] >= x:
            kept.pop()
        kept.append((x, y if y is not None and abs(y) < _TOO_LARGE else None))
    return kept


def _round_steps(span: float) -> list[float]:
    """1, 2, 2.5 and 5 times powers of ten that cut ``span`` into a few parts; 1 for 0."""
    if span <= 0:
        return [1.0]
    power = math.floor(math.log10(span))
    steps = [factor * 10.0**n for n in (power - 1, power) for factor in (1, 2, 2.5, 5)]
    return [*steps, 10.0 ** (power + 1)]


def _tick_labels(ticks: Sequence[float], step: float) -> list[str]:
    """All with the digits that ``step`` needs, so that neighbours never read the same."""
    top = max(map(abs, ticks), default=0)
    if 0 < top < 1e-3 or top >= HUGE:
        digits = math.ceil(math.log10(top / step) - 1e-9) + 1
        return ["0" if abs(tick) < step / 2 else scientific(tick, digits) for tick in ticks]
    return ["0" if abs(tick) < step / 2 else _tick_label(tick, step) for tick in ticks]


def _tick_label(tick: float, step: float) -> str:
    size, suffix = next(((s, name) for s, name in COUNTS if abs(tick) > s * 0.999), (1.0, ""))
    return trimmed(f"{tick / size:.{_decimals(step / size)}f}") + suffix


def _decimals(step: float) -> int:
    """How many digits after the point a multiple of ``step`` needs."""
    return next((n for n in range(12) if abs(step * 10**n - round(step * 10**n)) < 1e-6 * step * 10**n), 12)


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number


def _low(points: Iterable[Point]) -> float:
    return min(y for _, y in points)


def _high(points: Iterable[Point]) -> float:
    return max(y for _, y in points)
