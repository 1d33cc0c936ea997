"""Measurements as an SVG picture: curves, or rows of marks, along axes with steps of 1, 2 and 5.

curves("addition", Axis("elements", log=True), Axis("GB/s"), [Series("torch", ((1e3, 2.0), ...))])
rows("digits", Axis("digits"), ["variance", ...], [Series("torch", ((6.9, 0), ...))])

A picture is 360 wide, which is a phone's width, with letters of 11.  Its words have the colour of
the text around it; the colours of the series stand out on white and on black, and each series has a
mark of its own.  `file` gives a picture that stands by itself, black on white.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from statistics import median
from typing import Final

WIDTH, LETTER, ROOM_FOR_ROWS = 360, 6.1, 22
LEFT, RIGHT, HEIGHT, LINE, ROW = 46, 20, 200, 18, 17
COLOURS: Final = ("#2f7de1", "#d06a12", "#2a9d5c", "#b14fc5", "#8a8f98")
QUIET: Final = 'stroke-opacity=".18"'
SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Point = tuple[float, float, str]
"""Along, upwards (of rows: the row's number), and the words that appear over the mark."""


@dataclass(frozen=True, slots=True)
class Axis:
    """`marks` are values with a line of their own, such as a limit."""

    name: str
    log: bool = False
    marks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """`joined`: its points are joined by a line, from the least along to the greatest."""

    name: str
    points: tuple[Point, ...]
    joined: bool = True


class PictureError(ValueError):
    """Figures that cannot be drawn so."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """Values from `low` to `high` as places from `first` to `last`."""

    low: float
    high: float
    first: float
    last: float
    log: bool

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = log10(low), log10(high), log10(value)
        return self.first + (at - low) / (high - low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        if not self.log:
            step = _step((self.high - self.low) / 5)
            first = ceil(self.low / step - 1e-9)
            return [step * i for i in range(first, floor(self.high / step + 1e-9) + 1)]
        powers = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        short = log10(self.high / self.low) < 2.2
        factors = (1, 2, 5) if short else (1,)
        every = ceil(len(powers) / 7)
        found = [f * 10.0**p for p in powers if p % every == 0 for f in factors]
        return [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]


def _scale(axis: Axis, values: Sequence[float], first: float, last: float) -> _Scale:
    if not values:
        raise PictureError("there is no figure to draw")
    low, high = min(*values, *axis.marks, values[0]), max(*values, *axis.marks, values[0])
    if axis.log:
        if low <= 0:
            raise PictureError(f"{axis.name}: {low:g} has no place on a logarithmic axis")
        low, high = _rounded(low, down=True), _rounded(high, down=False)
        return _Scale(low, high if high > low else 10 * low, first, last, True)
    low = min(0.0, low)
    step = _step((high - low) / 5)
    low = step * floor(low / step + 1e-9)
    return _Scale(low, max(step * ceil(high / step - 1e-9), low + step), first, last, False)


def curves(title: str, along: Axis, upwards: Axis, series: Sequence[Series]) -> str:
    """The series over the values along."""
    points = [point for one in series for point in one.points]
    key, top = _key(series)
    top += 32
    bottom = top + HEIGHT
    across = _scale(along, [x for x, _, _ in points], LEFT, WIDTH - RIGHT)
    up = _scale(upwards, [y for _, y, _ in points], bottom, top)
    parts = [*key, _text(2, top - 10, upwards.name)]
    for value in up.ticks():
        parts.append(_line(f"M{LEFT} {up(value):.1f}H{WIDTH - RIGHT}"))
        parts.append(_text(LEFT - 5, up(value) + 4, number(value), "end"))
    for value in upwards.marks:
        parts.append(_line(f"M{LEFT} {up(value):.1f}H{WIDTH - RIGHT}", "mark"))
    for value in across.ticks():
        parts.append(_line(f"M{across(value):.1f} {top}V{bottom}"))
        parts.append(_text(across(value), bottom + 15, number(value), "middle"))
    for value in along.marks:
        parts.append(_line(f"M{across(value):.1f} {top}V{bottom}", "mark"))
    parts.append(_text(WIDTH - RIGHT, bottom + 32, along.name, "end"))
    for place, one in enumerate(series):
        colour = COLOURS[place % len(COLOURS)]
        if one.joined:
            way = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y, _ in sorted(one.points))
            parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}"/>')
        parts += [_mark(place, across(x), up(y), words) for x, y, words in one.points]
    spread = [(one.name, [y for _, y, _ in one.points]) for one in series]
    return _svg(title, f"{upwards.name} by {along.name}", spread, bottom + 40, parts)


def rows(title: str, along: Axis, names: Sequence[str], series: Sequence[Series]) -> str:
    """A row for each name, with a mark for each series."""
    points = [point for one in series for point in one.points]
    above = max(map(len, names)) > ROOM_FOR_ROWS
    left = 16.0 if above else 10 + LETTER * max(map(len, names))
    pitch = ROW + 14 if above else ROW
    key, top = _key(series)
    top += 24
    bottom = top + pitch * len(names) + 4
    across = _scale(along, [x for x, _, _ in points], left, WIDTH - RIGHT)
    parts = [*key]
    for value in across.ticks():
        parts.append(_line(f"M{across(value):.1f} {top}V{bottom}"))
        for y in (top - 6, bottom + 14):
            parts.append(_text(across(value), y, number(value), "middle"))
    for value in along.marks:
        parts.append(_line(f"M{across(value):.1f} {top}V{bottom}", "mark"))
    parts.append(_text(WIDTH - RIGHT, bottom + 31, along.name, "end"))
    for place, name in enumerate(names):
        y = top + pitch * (place + 1) - 6
        parts.append(_line(f"M{left:.1f} {y}H{WIDTH - RIGHT}", "row"))
        at = (left, y - 9, "start") if above else (left - 6, y + 4, "end")
        parts.append(_text(at[0], at[1], name, at[2], "name"))
    for place, one in enumerate(series):
        for x, row, words in one.points:
            parts.append(_mark(place, across(x), top + pitch * (row + 1) - 6, words))
    spread = [(one.name, [x for x, _, _ in one.points]) for one in series]
    return _svg(title, f"{along.name} of {len(names)} rows", spread, bottom + 39, parts)


def file(picture: str) -> str:
    """The picture as a file: black on white, whatever shows it."""
    name = 'xmlns="http://www.w3.org/2000/svg" style="background:white;color:black"'
    return picture.replace("<svg ", f"<svg {name} ", 1) + "\n"


def number(value: float) -> str:
    """A figure as an axis has it: 0.1, 20, 1,000, 10⁶."""
    if value and not 1e-3 <= abs(value) < 1e6:
        power = floor(log10(abs(value)) + 1e-9)
        factor = value / 10.0**power
        times = "" if abs(factor - 1) < 1e-9 else f"{factor:g}·"
        return f"{times}10{str(power).translate(SUPERSCRIPTS)}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"


def _svg(
    title: str,
    axes: str,
    spread: Sequence[tuple[str, Sequence[float]]],
    height: float,
    parts: Sequence[str],
) -> str:
    """With words for those who cannot see it: for each series its least, middle and greatest."""
    each = (
        f"{name}: {number(_short(min(v)))} to {number(_short(max(v)))}, "
        f"median {number(_short(median(v)))}"
        for name, v in spread
    )
    label = escape(f"{title}. {axes}. {'; '.join(each)}")
    head = (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="currentColor" stroke="none">'
    )
    return "\n".join([head, *parts, "</svg>"])


def _short(value: float) -> float:
    return float(f"{value:.2g}")


def _key(series: Sequence[Series]) -> tuple[list[str], float]:
    """What the marks mean, and how far down it reaches."""
    parts, x, y = list[str](), 8.0, 12.0
    for place, one in enumerate(series):
        wide = 22 + LETTER * len(one.name)
        if x > 8 and x + wide > WIDTH:
            x, y = 8.0, y + LINE
        parts += [_mark(place, x + 5, y - 4, ""), _text(x + 14, y, one.name)]
        x += wide
    return parts, y


def _mark(place: int, x: float, y: float, words: str) -> str:
    """A dot, a square, a triangle, a diamond or a ring: the mark of this series."""
    colour = COLOURS[place % len(COLOURS)]
    at = f"M{x:.1f} {y:.1f}"
    shape = (
        f"{at}m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0",
        f"{at}m-3 -3h6v6h-6z",
        f"{at}m0 -4l4 7h-8z",
        f"{at}m0 -4.4l4.4 4.4l-4.4 4.4l-4.4 -4.4z",
        f"{at}m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0",
    )[place % 5]
    look = f'fill="{colour}"' if place % 5 < 4 else f'fill="none" stroke="{colour}"'
    title = f"<title>{escape(words)}</title>" if words else ""
    return f'<path class="point" d="{shape}" {look} fill-opacity=".8">{title}</path>'


def _line(way: str, kind: str = "") -> str:
    look = {"mark": 'stroke-dasharray="4 3" stroke-opacity=".8"', "row": 'stroke-opacity=".1"'}
    return f'<path d="{way}" stroke="currentColor" {look.get(kind, QUIET)}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    what = f' class="{kind}"' if kind else ""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{what}'
    return f"<text {where}>{escape(text)}</text>"


def _rounded(value: float, down: bool) -> float:
    """The next 1, 2 or 5 times a power of ten."""
    unit = 10.0 ** floor(log10(value) + 1e-9)
    if down:
        return max(f * unit for f in (1, 2, 5) if f * unit <= value * (1 + 1e-9))
    return min(f * unit for f in (1, 2, 5, 10) if f * unit >= value * (1 - 1e-9))


def _step(rough: float) -> float:
    """1, 2 or 5 times a power of ten: the least that is not below."""
    return _rounded(max(rough, 1e-12), down=False)
