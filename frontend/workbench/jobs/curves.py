"""A search as two curves over its seconds: how many expressions it knows, and the predicted time of
its best program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from einderive.frontend.text import duration
from einderive.frontend.workbench.jobs.job import Moment

WIDTH, HEIGHT = 320.0, 64.0


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a polyline in a box of `WIDTH` x `HEIGHT`, what it shows, and its last value as
    text."""

    title: str
    points: str
    now: str


def curves(moments: Sequence[Moment]) -> tuple[Curve, ...]:
    """The curves; none before there are two moments."""
    if len(moments) < 2:
        return ()
    end = moments[-1].seconds or 1.0
    states = [(0.0, 0.0)]
    states += [(m.seconds / end, m.states / max(1, moments[-1].states)) for m in moments]
    found = [Curve("expressions", _points(states), f"{moments[-1].states:,}")]
    best = [(m.seconds / end, log(m.best)) for m in moments if m.best]
    if len(best) > 1:
        low, high = min(y for _, y in best), max(y for _, y in best)
        span = high - low or 1.0
        scaled = [(x, 0.1 + 0.8 * (y - low) / span) for x, y in best]
        first, *_, now = (duration(m.best) for m in moments if m.best)
        told = f"{now} predicted" if first == now else f"{now} predicted, {first} at first"
        found.append(Curve("best program", _points(_steps(scaled)), told))
    return tuple(found)


def _steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A value holds until the next one."""
    found = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        found += [(x, before), (x, y)]
    return found


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x * WIDTH:.1f},{HEIGHT * (1 - y):.1f}" for x, y in points)
