"""How many distinct elements of a source reads reach.

    A[h+r] for h in 0:62, r in 0:3      64: a window meets each element again, and it counts once
    A[2*i] for i in 0:8                 8, each 2 elements from the next
    A[i-1] for i in 0:8, where inside   7

The values of an affine row are a sum of sets {0, c, 2*c, ...}.  By rising c, such a sum is one set
of steps as long as each c is a multiple of the step before and leaves no gap; a c that is greater
than all sums before starts a set of its own.  Numbers are exact where that holds, where no two
indices of a read have an iterator in common, and where several reads of a source are boxes or one
set; otherwise they are upper bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from math import prod
from typing import Final, NamedTuple, TypeAlias

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row

MOST_BOXES: Final = 12
"""Boxes of which the union is counted cell by cell."""
MOST_CELLS: Final = 1 << 10


class Index(NamedTuple):
    """One index of a read, and where it has to lie for an element to be read; None: anywhere."""

    row: Row
    inside: Range | None = None


Read: TypeAlias = tuple[Index, ...]


class Steps(NamedTuple):
    """`many` numbers, each `step` from the next."""

    step: int
    many: int


class Values(NamedTuple):
    """The values of a row: `low` plus one number of each set, the finest first.  Different choices
    have different sums."""

    low: int
    sets: tuple[Steps, ...]

    @property
    def many(self) -> int:
        return prod(one.many for one in self.sets)

    @property
    def span(self) -> int:
        """The greatest value less the least."""
        return sum(one.step * (one.many - 1) for one in self.sets)


def values(row: Row, domain: Sequence[Range]) -> Values:
    """The values that the row takes over the box, or more."""
    low, high = affine.bounds(row, domain)
    if row.floors:
        most = min(high - low + 1, affine.volume([r.extent for r in domain], affine.mask(row)))
        return Values(low, (Steps(1, most),))
    found: list[Steps] = []
    span = 0
    steps = ((abs(a), domain[i].extent) for i, a in row.terms if domain[i].extent > 1)
    for step, count in sorted(steps):
        if found and step % found[-1].step == 0 and step <= found[-1].step * found[-1].many:
            last = found.pop()
            found.append(Steps(last.step, last.many + step // last.step * (count - 1)))
        elif step > span:
            found.append(Steps(step, count))
        else:
            return Values(low, (Steps(1, high - low + 1),))
        span += step * (count - 1)
    return Values(low, tuple(found))


def inside(found: Values, bound: Range | None) -> int:
    """How many of the values lie in the range."""
    low, sets = found
    if bound is None or (bound.lo <= low and low + found.span < bound.hi):
        return found.many
    if not sets:
        return int(bound.lo <= low < bound.hi)
    *finer, (step, count) = sets
    rest = Values(0, tuple(finer))
    # The k-th of the coarsest steps begins values from low + step*k to low + step*k + rest.span,
    # which is less than a step: one k at most lies partly below the range, and one partly above.
    first = max(0, -((low + rest.span - bound.lo) // step))
    last = min(count - 1, (bound.hi - 1 - low) // step)
    if last < first:
        return 0
    whole = range(
        max(first, -((low - bound.lo) // step)),
        min(last, (bound.hi - 1 - rest.span - low) // step) + 1,
    )
    beside = [k for k in {first, last} if k not in whole]
    partly = sum(inside(rest._replace(low=low + step * k), bound) for k in beside)
    return rest.many * len(whole) + partly


def elements(reads: Iterable[Read], domain: Sequence[Range], size: int) -> int:
    """The distinct elements that the reads reach, of a source of this size."""
    distinct = [*dict.fromkeys(reads)]
    if len(distinct) == 1:
        return min(size, _one(distinct[0], domain))
    boxes = [_box(read, domain) for read in distinct]
    if len({len(box) for box in boxes if box is not None}) == 1 and None not in boxes:
        together = _union([box for box in boxes if box is not None])
        if together is not None:
            return min(size, together)
    return min(size, sum(_one(read, domain) for read in distinct))


def _one(read: Read, domain: Sequence[Range]) -> int:
    """The elements of one read: indices with an iterator in common are counted together."""
    extents = [side.extent for side in domain]
    total, pending = 1, list(read)
    while pending:
        group = [pending.pop()]
        used = affine.mask(group[0].row)
        while found := [one for one in pending if affine.mask(one.row) & used]:
            pending = [one for one in pending if one not in found]
            group += found
            for one in found:
                used |= affine.mask(one.row)
        count = prod(inside(values(one.row, domain), one.inside) for one in group)
        total *= min(count, affine.volume(extents, used)) if len(group) > 1 else count
    return total


def _box(read: Read, domain: Sequence[Range]) -> tuple[Range, ...] | None:
    """The read's elements as a box; None where they are none, or where that is not known."""
    used, box = 0, list[Range]()
    for row, bound in read:
        own = affine.mask(row)
        found = values(row, domain)
        if own & used or row.floors or any(one.step > 1 for one in found.sets):
            return None
        used |= own
        side = Range(found.low, found.low + found.span + 1)
        if bound is not None:
            lo, hi = max(side.lo, bound.lo), min(side.hi, bound.hi)
            side = Range(lo, max(lo, hi))
        box.append(side)
    return tuple(box)


def _union(boxes: Sequence[tuple[Range, ...]]) -> int | None:
    """The points of the boxes together, by the cells between all their sides."""
    if len(boxes) > MOST_BOXES:
        return None
    axes = [sorted({end for box in boxes for end in box[k]}) for k in range(len(boxes[0]))]
    if prod(map(len, axes)) > MOST_CELLS:
        return None
    cells = product(*(list(pairwise(axis)) for axis in axes))

    def is_covered(cell: tuple[tuple[int, int], ...]) -> bool:
        return any(
            all(side.lo <= lo and hi <= side.hi for side, (lo, hi) in zip(box, cell, strict=True))
            for box in boxes
        )

    return sum(prod(hi - lo for lo, hi in cell) for cell in cells if is_covered(cell))
