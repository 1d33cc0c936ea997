"""Figures of a profile that no machine has: something else ran while they were measured.

    launch > 300 times the median launch,   rate < 1/30 of the rate of smaller work   ->   disturbed

On a machine whose processors are busy, a call that uses several threads waits for a time slice of
milliseconds, and so it does for as long as they stay busy: the least of many calls does not help.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from statistics import median

from einderive.derivations.matching.machine import Machine, Table

SLOW_LAUNCH = 300.0
"""Launches of operators differ by less than 100 times."""
SLOW_WORK = 30.0
"""Memory is at most 20 times as slow beyond the caches as within them, and the rates of larger
operations fall by less."""


def disturbed(machine: Machine) -> Iterator[str]:
    """The figures that cannot be right, in words."""
    if machine.launches:
        most = SLOW_LAUNCH * median(machine.launches.values())
        for name, seconds in machine.launches.items():
            if seconds > most:
                yield f"launch of {name}"
    for words, tables in (("bandwidth", machine.bandwidth), ("rate", machine.rates)):
        for name, table in tables.items():
            if _falls(table):
                yield f"{words} of {name}"


def _falls(table: Table) -> bool:
    """Whether the figure of a point is far below that of a point that is smaller in one way."""
    sizes = [range(len(axis)) for axis in table.axes]
    at = dict(zip(product(*sizes), table.values, strict=True))
    return any(
        SLOW_WORK * value < at[(*point[:axis], place - 1, *point[axis + 1 :])]
        for point, value in at.items()
        for axis, place in enumerate(point)
        if place
    )
