"""The profile of this machine's processor, measured.

    seconds of a call  =  the least of several passes

Figures are measured one after the other, the most important ones first.  A figure keeps its earlier
value if it cannot be measured, if no time is left, or after a KeyboardInterrupt.  A machine that
others share can be half as fast for a second, and then as fast as before: a second pass, in what is
left of the time, comes after that.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import torch

from einderive.derivations.matching.machine import (
    ANY,
    LAYOUT,
    NUMBER,
    VIEW,
    Machine,
    Table,
    constant,
)
from einderive.eops.back_ends import lowered
from einderive.frontend.machine.clock import Clock, least
from einderive.frontend.machine.disturbed import disturbed
from einderive.frontend.machine.linked import linked
from einderive.frontend.machine.rates import TABLES, Make, operations_of
from einderive.frontend.machine.small import SMALL, Instance, Small, applied, instance
from einderive.frontend.machine.stages import Time
from einderive.frontend.running.execute import task_of
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.text import counted
from einderive.ta.functions import FUNCTIONS
from einderive.ta.listing import beside

FULL_SECONDS, ROUGH_SECONDS = 10.0, 1.0
POINTS = 1500
"""This many times at most are taken; each has its part of the seconds."""
LEAST_SHARE = 0.05
"""What a call takes beyond its launch is at least this part of it: the two are measured apart."""
ROW = 64
"""Elements of rows that are gathered."""
SHORT = 64
"""Along each side of a square of short rows."""
STAYS, GONE = 1008, 1024
"""Sides of square matrices: the cache lines of a column of the second one compete for few places of
the cache."""
ELEMENTS = 1 << 14
"""Of the arrays on which functions are timed; they stay in a cache."""
BARE = "abs"
"""The function that computes least."""
SURE = 2.0
"""A call that takes this many times the least one takes the rest for its work."""
CHAIN = Small("Y[i] = A[i]+B[i]+C[i]+D[i]+E[i]", dict.fromkeys("ABCDE", (8,)))
HALF = Small(f"Y[i] = where(i < {ELEMENTS // 2}, A[i], 0)", {"A": (ELEMENTS,)})
WORDS = ("call", "launches", "bandwidth", "rates", "functions")

Progress = Callable[[str], object]


class Grid(NamedTuple):
    """The points at which figures are measured: elements of arrays, and the axes of the shapes of
    products (batch, rows, columns, summed), of convolutions (groups, points, columns, summed), of
    windows (outputs, elements of a window), of reductions (outputs, elements of each), of softmax
    and of Fourier transforms (rows, elements of each).

    What has more than `operations` is not run: a point then has the rate of the point before it.
    All is measured in this many `passes`, as far as there is time."""

    elements: tuple[int, ...]
    product: tuple[tuple[int, ...], ...]
    convolution: tuple[tuple[int, ...], ...]
    convolution1d: tuple[tuple[int, ...], ...]
    convolution3d: tuple[tuple[int, ...], ...]
    depthwise: tuple[tuple[int, ...], ...]
    transposed: tuple[tuple[int, ...], ...]
    window: tuple[tuple[int, ...], ...]
    reduction: tuple[tuple[int, ...], ...]
    pieces: tuple[tuple[int, ...], ...]
    softmax: tuple[tuple[int, ...], ...]
    fourier: tuple[tuple[int, ...], ...]
    operations: float
    passes: int


FULL, ROUGH = (Grid(**beside(__name__)[word]) for word in ("full", "rough"))


@dataclass(frozen=True, slots=True)
class Measurement:
    """A profile, and the figures of it that could not be measured, or not without disturbance."""

    machine: Machine
    missing: tuple[str, ...] = ()
    interrupted: bool = False


class NoTime(Exception):
    """The time is used up."""


@undisturbed()
def measured(
    base: Machine,
    seconds: float = FULL_SECONDS,
    grid: Grid = FULL,
    *,
    time: Time = least,
    clock: Clock = perf_counter,
    progress: Progress = lambda words: None,
) -> Measurement:
    """The profile, measured in at most about this many seconds; `base` gives what is missing."""
    probing = _Probing(base, seconds, grid, time, clock)
    machine, missing = base, list[str]()
    with torch.no_grad():
        for words in WORDS * grid.passes:
            again = probing.begin(words)
            progress(words)
            try:
                for change in getattr(probing, words)(machine):
                    machine = replace(machine, **change, origin="measured", title=title())
            except KeyboardInterrupt:
                return Measurement(machine, (*missing, *([] if again else [words])), True)
            except NoTime:
                missing += [] if again else [words]
            missing += [] if again else probing.failed
    return Measurement(
        machine, (*missing, *(f"{figure} (disturbed)" for figure in disturbed(machine)))
    )


def title() -> str:
    """The processor in words, as torch uses it."""
    threads = counted(torch.get_num_threads(), "thread")
    return f"{platform.machine()}, {torch.backends.cpu.get_cpu_capability()}, {threads}"


Changes = Iterator[Mapping[str, Any]]


@dataclass
class _Probing:
    """Each method gives changes of a profile, as soon as they are known."""

    base: Machine
    seconds: float
    grid: Grid
    time: Time
    clock: Clock

    def __post_init__(self) -> None:
        self.ends = self.clock() + self.seconds
        self.failed: list[str] = []
        self.found: dict[str, list[float]] = {}
        self.before: Iterator[float] = iter(())

    def begin(self, words: str) -> bool:
        """Begins with these figures; says whether it is not for the first time."""
        again = words in self.found
        self.before = iter(self.found.get(words, ()))
        self.failed, self.found[words] = [], []
        self.now = self.found[words]
        return again

    def _timed(self, run: Callable[[], object]) -> float:
        """The least seconds of a call in all passes, which take the same times in one order."""
        if self.clock() > self.ends:
            raise NoTime
        self.now.append(min(self.time(run, self.seconds / POINTS), next(self.before, inf)))
        return self.now[-1]

    def _stage(self, found: Instance) -> float:
        """Seconds of a stage, as a call runs it."""
        run, _ = lowered(task_of(found.stage, "cpu"))
        return self._timed(linked(run, found.buffers)[1])

    def call(self, machine: Machine) -> Changes:
        """What a call costs, by a chain of four additions beside one product."""
        one = self._stage(instance("elementwise", SMALL["elementwise"]))
        chain = instance("elementwise", CHAIN)
        more = (self._stage(chain) - one) / (chain.work.calls - 1)
        yield {"call_seconds": max(more, LEAST_SHARE * one)}

    def launches(self, machine: Machine) -> Changes:
        matrix = torch.ones(2, 3)
        found = {VIEW: self._timed(lambda: matrix.as_strided((3, 2), (1, 3), 0))}
        found[LAYOUT] = self._timed(lambda: matrix.T.reshape(6))
        arrays = self._timed(lambda: torch.mul(matrix, matrix))
        numbers = self._timed(lambda: torch.mul(matrix, 3.0))
        found[NUMBER] = max(numbers - arrays, LEAST_SHARE * arrays)
        for name, small in SMALL.items():
            try:
                tiny = instance(name, small)
                seconds = self._stage(tiny)
            except (LookupError, RuntimeError):
                self.failed.append(f"launch of {name}")
                continue
            rest = (tiny.work.calls - 1) * machine.call_seconds
            rest += tiny.work.views * found[VIEW] + tiny.work.numbers * found[NUMBER]
            found[name] = max(seconds - rest, LEAST_SHARE * seconds)
            ranked = sorted(found[each] for each in found if each in SMALL)
            yield {"launches": {**machine.launches, **found, ANY: ranked[len(ranked) // 2]}}

    def bandwidth(self, machine: Machine) -> Changes:
        found = dict(machine.bandwidth)
        for name in ("dense", "strided", "broadcast", "gathered", "rows"):
            sizes, figures = list[float](), list[float]()
            for size in self.grid.elements:
                moved, seconds = (
                    self._turned(size) if name == "strided" else self._beyond(*_stream(name, size))
                )
                sizes.append(moved)
                figures.append(moved / max(seconds, 1e-9))
            found[name] = Table((tuple(sizes),), tuple(figures))
            yield {"bandwidth": dict(found)}
        yield {"row_seconds": self._row(), "miss_seconds": self._miss()}

    def _row(self) -> float:
        """Seconds of an inner loop: of a sum that repeats rows, beyond one that repeats none."""
        left, right = torch.ones(SHORT, 1, 3), torch.ones(1, SHORT, 3)
        whole = torch.ones(SHORT, SHORT, 3)
        out = torch.empty_like(whole)
        seconds = self._timed(lambda: torch.add(left, right, out=out))
        floor = self._timed(lambda: torch.add(whole, whole, out=out))
        return max(seconds - floor, 0.0) / SHORT**2

    def _miss(self) -> float:
        """Seconds of a read with a jump whose cache line is gone: of a product by a transposed
        matrix, beyond those where the lines of a column stay in the cache."""
        near, far = (self._jumping(side) / side**2 for side in (STAYS, GONE))
        return max(far - near, 0.0)

    def _jumping(self, side: int) -> float:
        left, right, out = torch.ones(3, side, side)
        return self._timed(lambda: torch.mul(left, right.T, out=out))

    def _turned(self, size: int) -> tuple[float, float]:
        """Bytes of a copy of a transposed matrix, and its seconds beyond a call's."""
        side = int(size**0.5)
        turned = torch.ones(side, side).T
        tiny = torch.ones(1, 1).T
        floor = self._timed(lambda: tiny.clone(memory_format=torch.contiguous_format))
        seconds = self._timed(lambda: turned.clone(memory_format=torch.contiguous_format))
        return 8.0 * side * side, max(seconds - floor, LEAST_SHARE * seconds)

    def _beyond(self, operator: str, small: Small) -> tuple[float, float]:
        """Bytes of a stage, and its seconds beyond its launch."""
        eights = {name: (8,) * len(shape) for name, shape in small.shapes.items()}
        tiny = self._stage(instance(operator, small._replace(shapes=eights)))
        whole = instance(operator, small)
        seconds = self._stage(whole)
        return whole.work.bytes_moved, max(seconds - tiny, LEAST_SHARE * seconds)

    def rates(self, machine: Machine) -> Changes:
        found = dict(machine.rates)
        left, right = torch.ones(2, ELEMENTS // 4)
        out = torch.empty_like(left)
        seconds = self._timed(lambda: torch.add(left, right, out=out))
        floor = self._timed(lambda: torch.add(left[:1], right[:1], out=out[:1]))
        found["vector"] = constant(len(left) / max(seconds - floor, LEAST_SHARE * seconds))
        yield {"rates": dict(found)}
        for unit, (axis, make, operator) in TABLES.items():
            found[unit] = self._table(
                getattr(self.grid, axis), make, machine.launches.get(operator, inf)
            )
            yield {"rates": dict(found)}

    def _table(self, axes: tuple[tuple[int, ...], ...], make: Make, launch: float) -> Table:
        """The rates at the points of a grid, without the operator's launch.  A call that takes
        hardly longer than the least one says little about a rate: it is at most the highest one of
        longer calls."""
        least = tuple(axis[0] for axis in axes)
        floor = min(self._timed(make(*least)[0]), launch)
        known: dict[tuple[int, ...], float] = {}
        sure = dict[tuple[int, ...], float]()
        for point in product(*axes):
            run, operations = (
                make(*point) if operations_of(point) < self.grid.operations else (None, 0.0)
            )
            if run is None:
                known[point] = max(known[near] for near in _before(point, axes) if near in known)
                continue
            seconds = self._timed(run)
            known[point] = operations / max(seconds - floor, LEAST_SHARE * seconds)
            if seconds > SURE * floor:
                sure[point] = known[point]
        most = max(sure.values(), default=inf)
        places = tuple(tuple(map(float, axis)) for axis in axes)
        return Table(places, tuple(min(known[point], most) for point in product(*axes)))

    def functions(self, machine: Machine) -> Changes:
        """Seconds of each function beyond those of one that goes over as many bytes."""
        bare = self._stage(applied(BARE, 1, ELEMENTS))
        found = {"where": max(0.0, self._stage(instance("elementwise", HALF)) - bare) / ELEMENTS}
        for name, function in FUNCTIONS.items():
            if not function.arity:
                continue
            try:
                seconds = self._stage(applied(name, function.arity, ELEMENTS))
            except (LookupError, RuntimeError, NotImplementedError):
                self.failed.append(f"function {name}")
                continue
            found[name] = max(0.0, seconds - bare) / ELEMENTS
        ranked = sorted(found.values())
        yield {"functions": {**machine.functions, **found, ANY: ranked[len(ranked) // 2]}}


def _before(point: tuple[int, ...], axes: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
    """The neighbours with one smaller size."""
    for place, axis in enumerate(axes):
        at = axis.index(point[place])
        if at:
            yield (*point[:place], axis[at - 1], *point[place + 1 :])


def _stream(access: str, size: int) -> tuple[str, Small]:
    """A stage that reads about this many elements in this way, and its operator."""
    side, count = int(size**0.5), max(2, size // ROW)
    return {
        "dense": ("elementwise", Small("Y[i] = A[i]+B[i]", dict.fromkeys("AB", (size,)))),
        "broadcast": ("elementwise", Small("Y[i,j] = A[i]*B[j]", dict.fromkeys("AB", (side,)))),
        "gathered": ("gather", Small("Y[n] = E[I[n]]", dict.fromkeys("EI", (size,)))),
        "rows": ("gather", Small("Y[n,d] = E[I[n],d]", {"E": (count, ROW), "I": (count,)})),
    }[access]
