"""Exact reasoning about boxes and quasi-affine maps between them.

A map is a sequence of rows, a box a sequence of ranges.  Questions about all points of a box are
answered by intervals where these decide, else by integer sets (isl), symbolically: the cost does
not depend on the extents.  A question that is a condition answers None where it holds, and else
with a `Refusal` that names a point.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple, TypeAlias

import islpy as isl

from ta import affine
from ta.affine import Range, Row

Box: TypeAlias = Sequence[Range]
Read: TypeAlias = tuple[Row, Range]
"""One index row of an access, with the range of the source's dimension that it reads."""

MOST_CORNERS = 256
_thread = threading.local()


class Refusal(NamedTuple):
    """Why a condition does not hold, and a point that shows it (in the box the reason names)."""

    reason: str
    point: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return self.reason if self.point is None else f"{self.reason}, for example at {self.point}"


def size(box: Box) -> int:
    """The number of points of a box."""
    return math.prod(side.extent for side in box)


def is_bijection(
    forward: Sequence[Row], domain: Box, backward: Sequence[Row], target: Box
) -> Refusal | None:
    """`forward` maps `domain` one-to-one onto all of `target`, and `backward` is its inverse."""
    if size(domain) != size(target):
        return Refusal(f"the domain has {size(domain)} points, the target {size(target)}")
    return (
        image_inside(forward, domain, target)
        or image_inside(backward, target, domain)
        or inverse_on(forward, backward, domain)
        or inverse_on(backward, forward, target)
    )


def image_inside(rows: Sequence[Row], ranges: Box, target: Box) -> Refusal | None:
    """Every point of the box `ranges` is mapped into the box `target`."""
    _same_length(rows, target)
    if not size(ranges):
        return None
    for k, (row, bound) in enumerate(zip(rows, target, strict=True)):
        low, high = affine.bounds(row, ranges)
        if low >= bound.lo and high < bound.hi:
            continue
        low, high = row_bounds(row, ranges)
        if low < bound.lo or high >= bound.hi:
            wrong = low if low < bound.lo else high
            equation = f"{_text(row)} = {wrong}"
            return Refusal(
                f"component {k} takes the value {wrong}, outside {bound.lo}:{bound.hi}",
                _sample(_set(ranges, equation)),
            )
    return None


def inverse_on(forward: Sequence[Row], backward: Sequence[Row], ranges: Box) -> Refusal | None:
    """`backward(forward(x)) == x` for every x of the box `ranges`."""
    _same_length(backward, ranges)
    if not size(ranges):
        return None
    for k, row in enumerate(backward):
        error = affine.add(affine.substitute(row, forward), affine.iterator(k), -1)
        error = affine.simplify(error, ranges)
        low, high = row_bounds(error, ranges)
        if low != 0 or high != 0:
            return Refusal(
                f"component {k} does not come back",
                _sample(_set(ranges, f"not ({_text(error)} = 0)")),
            )
    return None


def image_box(rows: Sequence[Row], ranges: Box) -> tuple[Range, ...]:
    """The least box that holds the image of the box `ranges`; empty ranges where that is empty."""
    if not size(ranges):
        return (Range(0, 0),) * len(rows)
    found = (row_bounds(row, ranges) for row in rows)
    return tuple(Range(low, high + 1) for low, high in found)


def covers(rows: Sequence[Row], ranges: Box, target: Box) -> Refusal | None:
    """The image of the box `ranges` holds every point of the box `target`.

    Together with `image_inside`: the image is the target.
    """
    _same_length(rows, target)
    if size(target) == 0:
        return None
    if size(ranges) < size(target):
        return Refusal(f"{size(ranges)} points cannot cover {size(target)}")
    if _covers_side_by_side(rows, ranges, target):
        return None
    names = [f"t{k}" for k in range(len(rows))]
    values = ", ".join(_text(row) for row in rows)
    image = _map(f"{{ [{_variables(ranges)}] -> [{values}] : {_inside(ranges)} }}").range()
    bounds = " and ".join(f"{b.lo} <= {t} < {b.hi}" for t, b in zip(names, target, strict=True))
    wanted = isl.Set(f"{{ [{', '.join(names)}] : {bounds or 'true'} }}", context=_context())
    missed = wanted.subtract(image)
    if missed.is_empty():
        return None
    return Refusal("the image misses a point of the target", _sample(missed))


def _covers_side_by_side(rows: Sequence[Row], ranges: Box, target: Box) -> bool:
    """Every row is x_i + c or c - x_i with its own i, and its interval holds the target's."""
    used: set[int] = set()
    for row, bound in zip(rows, target, strict=True):
        if row.floors or len(row.terms) != 1 or abs(row.terms[0][1]) != 1:
            return False
        low, high = affine.bounds(row, ranges)
        if row.terms[0][0] in used or low > bound.lo or high < bound.hi - 1:
            return False
        used.add(row.terms[0][0])
    return True


def row_bounds(row: Row, ranges: Box) -> tuple[int, int]:
    """The least and the greatest value of the row over the box `ranges`, both attained.

    Raises ValueError where a range is empty.
    """
    if not size(ranges):
        raise ValueError("an empty box has no bounds")
    bounds = affine.bounds(row, ranges)
    if not row.floors or bounds[0] == bounds[1]:
        return bounds
    # Only the iterators that occur matter; the others would multiply the corners.
    used = sorted(affine.iterators(row))
    narrow = affine.rename(row, {i: k for k, i in enumerate(used)})
    return _quasi_bounds(narrow, tuple(ranges[i] for i in used), bounds)


@lru_cache(maxsize=1 << 14)
def _quasi_bounds(row: Row, ranges: tuple[Range, ...], bounds: tuple[int, int]) -> tuple[int, int]:
    if 1 << len(ranges) <= MOST_CORNERS:
        corners = product(*({side.lo, side.hi - 1} for side in ranges))
        values = {affine.evaluate(row, corner.__getitem__) for corner in corners}
        if min(values) == bounds[0] and max(values) == bounds[1]:
            return bounds
    image = _map(f"{{ [{_variables(ranges)}] -> [{_text(row)}] : {_inside(ranges)} }}").range()
    return image.dim_min_val(0).to_python(), image.dim_max_val(0).to_python()


def some_read_misses(reads: Sequence[Read], outer: Box, inner: Box) -> bool:
    """At every point of `outer` outside `inner`, some read's row lies outside its range.

    So a product that reads 0 there is 0 on all of `outer` without `inner`.
    """
    return zero_outside(reads, outer, inner) is None


def zero_outside(reads: Sequence[Read], outer: Box, inner: Box) -> Refusal | None:
    """As `some_read_misses`; refuses with a point of the difference where all reads hit."""
    _same_length(outer, inner)
    undecided = [slab for slab in difference_boxes(outer, inner) if not _misses(reads, slab)]
    for slab in undecided:
        hits = " and ".join(f"{r.lo} <= {_text(row)} < {r.hi}" for row, r in reads)
        hit = _set(slab, hits or "true")
        if not hit.is_empty():
            return Refusal("every read hits outside the inner box", _sample(hit))
    return None


def reads_miss(reads: Sequence[Read], inside: Sequence[Read], box: Box) -> bool:
    """At every point of the box where some row of `inside` leaves its range, some read's row lies
    outside its own."""
    hits = [f"{r.lo} <= {_text(row)} < {r.hi}" for row, r in reads]
    for row, bound in inside:
        for leaves in (f"{_text(row)} < {bound.lo}", f"{_text(row)} >= {bound.hi}"):
            if not _set(box, " and ".join([leaves, *hits])).is_empty():
                return False
    return True


def _misses(reads: Sequence[Read], box: Box) -> bool:
    """By intervals: one of the reads misses on the whole box."""
    for row, bound in reads:
        low, high = affine.bounds(row, box)
        if high < bound.lo or low >= bound.hi:
            return True
    return False


def difference_boxes(outer: Box, inner: Box) -> Iterator[tuple[Range, ...]]:
    """Disjoint non-empty boxes whose union is `outer` without `inner`."""
    current = list(outer)
    if not size(outer):
        return
    if not size(inner):
        yield tuple(current)
        return
    for k, (whole, kept) in enumerate(zip(outer, inner, strict=True)):
        low, high = max(whole.lo, kept.lo), min(whole.hi, kept.hi)
        if low >= high:
            yield tuple(current)
            return
        for side in (Range(whole.lo, low), Range(high, whole.hi)):
            if side.extent:
                yield (*current[:k], side, *current[k + 1 :])
        current[k] = Range(low, high)


def _same_length(left: Sequence[object], right: Sequence[object]) -> None:
    if len(left) != len(right):
        raise ValueError(f"{len(left)} components against {len(right)}")


def _context() -> isl.Context:
    """This thread's context: isl objects of one context must not be used by two threads."""
    found = getattr(_thread, "context", None)
    if not isinstance(found, isl.Context):
        found = _thread.context = isl.Context()
    return found


def _text(row: Row) -> str:
    """The row in isl's notation."""
    parts = [str(row.const)]
    parts += [f"{a}*x{i}" for i, a in row.terms]
    parts += [f"{b}*floor(({_text(inner)})/{n})" for inner, n, b in row.floors]
    return " + ".join(parts)


def _variables(ranges: Box) -> str:
    return ", ".join(f"x{i}" for i in range(len(ranges)))


def _inside(ranges: Box) -> str:
    return " and ".join(f"{r.lo} <= x{i} < {r.hi}" for i, r in enumerate(ranges)) or "true"


def _set(ranges: Box, condition: str) -> isl.Set:
    """The points of the box where the condition holds."""
    text = f"{{ [{_variables(ranges)}] : {_inside(ranges)} and {condition} }}"
    return isl.Set(text, context=_context())


def _map(text: str) -> isl.Map:
    return isl.Map(text, context=_context())


def _sample(points: isl.Set) -> tuple[int, ...] | None:
    """One point of the set, or None where it is empty."""
    if points.is_empty():
        return None
    point = points.sample_point()
    count = points.dim(isl.dim_type.set)
    return tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(count))
