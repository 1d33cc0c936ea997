"""The bytes that the programs of a kernel ask for, and those that come from memory.

    Y[i,j] = sum[k](A[i,k]*B[k,j]), tiles of M by N      A is asked for columns/N times,
                                                         B rows/M times
    Y[h] = A[h+r]                                        each element once: what a program reads
                                                         again lies near

Each program takes a block of one place of every axis, and walks through the other iterators.  It
asks the second-level cache once for each element that it reads.  Memory sends an element once if
the operand fits this cache; else once for each wave, the programs that run at the same time.
Sectors are moved whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final, NamedTuple

from einderive.eops.triton_kernels.tuning.device import SECTOR
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.traffic.reached import Index, Read, elements, values

NOTHING: Final = Range(0, 1)
SHORT: Final = 16
"""A sector that is used up within so many steps stays near the multiprocessor for that time."""


class Axis(NamedTuple):
    """Iterators that are one index, the last one fastest, of which a program has a block."""

    positions: tuple[int, ...]
    block: int


class Fetch(NamedTuple):
    """A load of an operand of `size` elements of `item` bytes: what is read, where it lies in
    memory, and how many times a program loads it."""

    operand: int
    size: int
    item: int
    read: Read
    offset: Row
    times: int = 1

    @property
    def free(self) -> int:
        """The iterators that it depends on, as a bit set."""
        found = affine.mask(self.offset)
        for row, _ in self.read:
            found |= affine.mask(row)
        return found


@dataclass(frozen=True, slots=True)
class Tiling:
    """How the iterators lie on programs: those of `axes` in blocks, the slowest axis first; each
    program walks through the others, those of `lanes` in blocks of lanes."""

    domain: tuple[Range, ...]
    axes: tuple[Axis, ...]
    lanes: Axis | None = None

    def extent(self, axis: Axis) -> int:
        return prod(self.domain[i].extent for i in axis.positions)

    def tiles(self, axis: Axis) -> int:
        return -(-self.extent(axis) // axis.block)

    @property
    def programs(self) -> int:
        return prod(map(self.tiles, self.axes))

    def local(self, axis: Axis) -> Iterator[tuple[int, int]]:
        """The steps that a block of the axis has of each iterator."""
        left = axis.block
        for i in reversed(axis.positions):
            yield i, min(left, self.domain[i].extent)
            left = -(-left // self.domain[i].extent)

    @property
    def box(self) -> tuple[Range, ...]:
        """What one program has of each iterator."""
        sides = [*self.domain]
        for axis in self.axes:
            for i, count in self.local(axis):
                sides[i] = Range(sides[i].lo, sides[i].lo + count)
        return tuple(sides)

    @property
    def at_once(self) -> tuple[Range, ...]:
        """What the lanes of one program have of each iterator, and short walks."""
        lanes = (*self.axes, *([self.lanes] if self.lanes else []))
        found = [NOTHING if side.extent > SHORT else side for side in self.domain]
        for axis in lanes:
            for i, count in self.local(axis):
                found[i] = Range(0, count)
        return tuple(found)

    def wave(self, programs: int) -> Tiling:
        """The same with blocks of so many programs that follow each other."""
        axes = []
        for axis in reversed(self.axes):
            count = min(programs, self.tiles(axis))
            axes.append(axis._replace(block=axis.block * count))
            programs = -(-programs // count)
        return replace(self, axes=tuple(reversed(axes)))

    def points(self, free: int, walked: int) -> int:
        """How often a value of these iterators is computed, if a program walks through `walked`
        places for it: once for each place of an axis, of which a value that does not depend on it
        has one for each block."""
        found = walked
        for axis in self.axes:
            used = any(free >> i & 1 for i in axis.positions)
            found *= self.extent(axis) if used else self.tiles(axis)
        return found


def reached(fetches: Sequence[Fetch], domain: Sequence[Range]) -> int:
    """The distinct elements of one operand."""
    return elements([one.read for one in fetches], domain, fetches[0].size)


def asked(fetches: Sequence[Fetch], tiling: Tiling) -> float:
    """The elements of one operand that all programs ask for."""
    near = tiling.box
    volumes = [affine.volume([side.extent for side in near], one.free) for one in fetches]
    anywhere = [tuple(Index(row) for row, _ in one.read) for one in fetches]
    own = elements(anywhere, near, sum(volumes))
    total = sum(_loaded(one, tiling) for one in fetches)
    return total * own / sum(volumes)


def _loaded(fetch: Fetch, tiling: Tiling) -> float:
    """The elements that all programs load, one for each place of the iterators that it has."""
    on_axes = {i for axis in tiling.axes for i in axis.positions}
    found, free = 1.0, fetch.free
    for i, side in enumerate(tiling.domain):
        if free >> i & 1 and i not in on_axes:
            found *= side.extent
    for axis in tiling.axes:
        used = [i for i in axis.positions if free >> i & 1 or tiling.domain[i].extent == 1]
        if len(used) == len(axis.positions) and tiling.extent(axis) > 1:
            found *= tiling.extent(axis)
        else:
            local = dict(tiling.local(axis))
            found *= tiling.tiles(axis) * prod(local[i] for i in used)
    return found


def sectors(offset: Row, domain: Sequence[Range], item: int) -> float:
    """The bytes of whole sectors over the bytes of the elements at these offsets."""
    found = values(offset, domain).sets
    if not found:
        return 1.0
    if found[0].step > 1:
        return max(1.0, min(found[0].step * item, SECTOR) / item)
    run = found[0].many * item
    return -(-run // SECTOR) * SECTOR / run if len(found) > 1 else 1.0


def bytes_asked(fetches: Sequence[Fetch], tiling: Tiling) -> float:
    """The bytes of one operand that all programs ask for: lanes that read beside each other share
    a sector."""
    lanes, item = tiling.at_once, fetches[0].item
    whole = min(sectors(one.offset, lanes, item) for one in fetches)
    times = max(one.times for one in fetches)
    return asked(fetches, tiling) * item * whole * times


def bytes_moved(fetches: Sequence[Fetch], tiling: Tiling, programs: int, cache: int) -> float:
    """The bytes of one operand that come from memory, if so many programs run at the same time."""
    item = fetches[0].item
    distinct = reached(fetches, tiling.domain)
    whole = item * min(sectors(one.offset, tiling.domain, item) for one in fetches)
    if distinct * item <= cache:
        return distinct * whole
    together = tiling.wave(programs)
    again = max(1.0, asked(fetches, together) / max(1, distinct))
    near = reached(fetches, together.box) * item
    times = max(one.times for one in fetches) if near > cache else 1
    return distinct * whole * again * times


def by_operand(fetches: Sequence[Fetch]) -> Mapping[int, list[Fetch]]:
    found = dict[int, list[Fetch]]()
    for one in fetches:
        found.setdefault(one.operand, []).append(one)
    return found
