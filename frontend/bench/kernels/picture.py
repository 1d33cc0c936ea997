"""Curves as an SVG picture: sizes as powers of ten along, a rate from 0 upwards.

svg("addition", "elements", "GB/s", {"torch": [(1e3, 2.0), ...], ...})  ->  the text of a file
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Final

WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 34, 46
COLOURS: Final = ("#c0392b", "#2467a8", "#7f8c8d", "#27836b", "#8e5aa8")

Curve = Sequence[tuple[float, float]]


def svg(title: str, along: str, upwards: str, curves: Mapping[str, Curve]) -> str:
    """The picture; the first curve is drawn thicker."""
    points = [point for curve in curves.values() for point in curve]
    first = floor(log10(min(x for x, _ in points)))
    last = max(first + 1, ceil(log10(max(x for x, _ in points))))
    step = _step(max(y for _, y in points))
    top = step * max(1, ceil(max(y for _, y in points) / step))

    def place(x: float, y: float) -> str:
        right = LEFT + (log10(x) - first) / (last - first) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)
        return f"{right:.1f},{down:.1f}"

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2 - 40, 20, title, "middle", "14"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, along, "middle"),
        _text(8, TOP - 12, upwards, "start"),
    ]
    for power in range(first, last + 1):
        at, foot = place(10.0**power, 0).split(",")
        lines.append(f'<path d="M{at},{foot}V{TOP}" stroke="#dddddd"/>')
        lines.append(_text(float(at), HEIGHT - BOTTOM + 18, _power(power), "middle"))
    for number in range(round(top / step) + 1):
        _, down = place(10.0**first, number * step).split(",")
        lines.append(f'<path d="M{LEFT},{down}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        lines.append(_text(LEFT - 6, float(down) + 4, f"{number * step:g}", "end"))
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        way = " ".join(place(x, y) for x, y in sorted(curve))
        width = 2.5 if number == 0 else 1.5
        lines.append(
            f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        )
        row = TOP + 14 + 20 * number
        lines.append(
            f'<path d="M{WIDTH - RIGHT + 12},{row - 4}h18" stroke="{colour}" '
            f'stroke-width="{width}"/>'
        )
        lines.append(_text(WIDTH - RIGHT + 36, row, name, "start"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, anchor: str, size: str = "12") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f"<text {where}>{escape(text)}</text>"


def _power(power: int) -> str:
    return f"{10**power:,}" if power < 6 else f"10^{power}"


def _step(greatest: float) -> float:
    """1, 2 or 5 times a power of ten, of which some five reach the greatest."""
    rough = max(greatest, 1e-9) / 5
    unit = 10.0 ** floor(log10(rough))
    return next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
