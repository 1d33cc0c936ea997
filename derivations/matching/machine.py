"""What a machine can do, and the seconds that some work takes on it.

    seconds = max(operations / rate, bytes_moved / bandwidth + rows * row) + functions
              + bytes_copied / strided bandwidth + bytes_in_runs / dense bandwidth
              + launches + further calls * call

Copies for padding and layouts run before the call and add up with it.  A rate depends on the shape
of the work, and a bandwidth on the bytes that one call goes over.  docs/machine.md has the whole
formula, with what views, numbers and jumps add.
Source: Williams, Waterman, Patterson, "Roofline", CACM 2009.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2, prod
from typing import Final, NamedTuple

from einderive.ta.ir.operator import Work

KERNEL = "kernel"
"""The word for a stage that no library operator computes, among the launches of a profile."""
ANY = "*"
"""The name under which a profile has the launch of operators, and the seconds of functions, that it
does not name."""
PAD = "pad_slice"
"""The operator whose launch is that of a padded copy."""
VIEW, LAYOUT, NUMBER = "view", "layout", "number"
"""The words for a view, for a copy in another layout, and for what a number as an operand adds to a
call, among the launches of a profile.  A profile without them counts none."""
NEAREST: Final = {
    "convolution of images": "convolution",
    "convolution1d": "convolution",
    "convolution1d of images": "convolution",
    "convolution3d": "convolution",
    "depthwise convolution": "convolution",
    "transposed convolution": "convolution",
    "reduction of pieces": "reduction",
    "extreme window": "window",
    "extreme": "reduction",
    "extreme of rows": "reduction of rows",
    "extreme of pieces": "reduction",
}
"""The unit that stands for a missing one; for others `vector` does."""
JUMP_BYTES: Final = 8
"""Of an element that is read with a jump: it is copied, as where a matrix is transposed."""
FLOAT_BYTES = 4
"""Rates are those of float32."""


@dataclass(frozen=True, slots=True)
class Table:
    """A figure by the sizes that it depends on: `values` are those at the points of a grid, of
    which `axes` are the coordinates, the last one running fastest.

    Between the points it is linear on logarithmic scales, and beyond them constant.  Without axes
    it is one figure."""

    axes: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if prod(map(len, self.axes)) != len(self.values):
            raise ValueError("a table has one value for each point of its grid")
        if not all(value > 0 for value in self.values):
            raise ValueError("the figures of a table are greater than 0")
        if any(list(axis) != sorted(set(axis)) or axis[0] <= 0 for axis in self.axes):
            raise ValueError("the coordinates of a table rise")

    def at(self, *sizes: float) -> float:
        """The figure at sizes, one an axis."""
        found = self.values
        for axis, size in zip(self.axes, sizes, strict=True):
            place, part = _between(axis, size)
            step = len(found) // len(axis)
            low = found[place * step : (place + 1) * step]
            if part:
                high = found[(place + 1) * step : (place + 2) * step]
                low = tuple([a * (b / a) ** part for a, b in zip(low, high, strict=True)])
            found = low
        return found[0]

    @property
    def most(self) -> float:
        return max(self.values)


def _between(axis: tuple[float, ...], size: float) -> tuple[int, float]:
    """The place of the coordinate at or below the size, and the part of the way to the next."""
    place = bisect_right(axis, size) - 1
    if place < 0:
        return 0, 0.0
    if place == len(axis) - 1:
        return place, 0.0
    low, high = axis[place], axis[place + 1]
    return place, log2(size / low) / log2(high / low)


def constant(value: float) -> Table:
    return Table((), (value,))


class Parts(NamedTuple):
    """The seconds of some work by what takes them: the greater of `arithmetic` and `memory` counts,
    all others add up."""

    arithmetic: float
    memory: float
    functions: float
    copies: float
    calls: float


@dataclass(frozen=True, slots=True)
class Machine:
    """The profile of one target.

    - `bandwidth`: bytes a second by the bytes that a call goes over, for each way of access:
      `dense`, `strided`, `gathered`, `rows` (these gathered whole), `broadcast`; `dense` stands for
      the missing ones.
    - `rates`: operations a second by unit, for float32, by the shape of the work; another
      stands for a missing unit (`NEAREST`).
    - `launches`: what the first library call of a stage costs before it computes, by operator.
    - `call_seconds`: what each further call costs.
    - `functions`: seconds of a function of one number beyond an addition's.
    - `row_seconds`: what each inner loop costs where operands lack loops of others, and
      `miss_seconds` what a read with a jump costs where its cache line is gone.
    - `fused`: whether an eOperator is one kernel (Triton) or a series of whole-array calls (torch
      on strided views).
    - `origin` says where the figures come from: `published`, `default` or `measured`.
    - `title` names the machine in words."""

    name: str
    bandwidth: Mapping[str, Table]
    rates: Mapping[str, Table]
    call_seconds: float
    fused: bool
    launches: Mapping[str, float] = field(default_factory=dict)
    functions: Mapping[str, float] = field(default_factory=dict)
    row_seconds: float = 0.0
    miss_seconds: float = 0.0
    origin: str = "published"
    title: str = ""

    def seconds(self, work: Work, item_bytes: int = FLOAT_BYTES, operator: str = "") -> float:
        """The predicted time of some work, as a stage that the operator computes."""
        arithmetic, memory, functions, copies, calls = self._parts(work, item_bytes, operator)
        if work.after:
            return arithmetic + memory + functions + copies + calls
        return (arithmetic if arithmetic > memory else memory) + functions + copies + calls

    def parts(self, work: Work, item_bytes: int = FLOAT_BYTES, operator: str = "") -> Parts:
        """The predicted time by what takes it."""
        return Parts(*self._parts(work, item_bytes, operator))

    def _parts(
        self, work: Work, item_bytes: int, operator: str
    ) -> tuple[float, float, float, float, float]:
        arithmetic = memory = functions = copies = calls = 0.0
        if work.operations:
            rate = self._rate(work)
            arithmetic = work.operations / rate * max(1.0, item_bytes / FLOAT_BYTES)
        if work.bytes_moved:
            near = work.near or work.bytes_moved / max(1, work.calls)
            memory = work.bytes_moved / self.bytes_a_second(near, work.access)
            memory += work.rows * self.row_seconds
        if work.jumps and "strided" in self.bandwidth:
            jumped = work.jumps * JUMP_BYTES
            memory += jumped / self.bytes_a_second(jumped, "strided")
        if work.misses:
            memory += work.misses * self.miss_seconds
        if work.functions:
            rest = self.functions.get(ANY, 0.0)
            functions = sum([n * self.functions.get(name, rest) for name, n in work.functions])
        if work.bytes_copied:
            copies = work.bytes_copied / self.bytes_a_second(work.bytes_copied, "strided")
            copies += self.launches.get(LAYOUT, 0.0)
        if work.bytes_in_runs:
            copies += work.bytes_in_runs / self.bytes_a_second(work.bytes_in_runs)
        if work.pads:
            copies += work.pads * self.launches.get(PAD, 0.0)
        if work.calls:
            calls = self.launch(work.like or operator) + (work.calls - 1) * self.call_seconds
        if work.views:
            calls += work.views * self.launches.get(VIEW, 0.0)
        if work.numbers:
            calls += work.numbers * self.launches.get(NUMBER, 0.0)
        return arithmetic, memory, functions, copies, calls

    def rates_of(self, unit: str) -> Table:
        """The unit's rates, or those of the one that stands for it."""
        while unit not in self.rates and unit != "vector":
            unit = NEAREST.get(unit, "vector")
        return self.rates[unit]

    def _rate(self, work: Work) -> float:
        """Where the rate does not depend on the shape, it is scaled by the utilisation."""
        table = self.rates_of(work.unit)
        if not table.axes:
            return table.values[0] * work.utilisation
        if len(table.axes) == len(work.shape):
            return table.at(*work.shape)
        return table.most * work.utilisation

    def bytes_a_second(self, near: float, access: str = "dense") -> float:
        """The bandwidth of a call that goes over this many bytes."""
        table = self.bandwidth.get(access) or self.bandwidth["dense"]
        return table.at(near) if table.axes else table.values[0]

    @property
    def least_call(self) -> float:
        """What no stage is launched in less than."""
        return min([self.call_seconds, *self.launches.values()])

    def launch(self, operator: str) -> float:
        """What the first call of a stage costs before it computes."""
        found = self.launches.get(operator)
        return self.launches.get(ANY, self.call_seconds) if found is None else found
