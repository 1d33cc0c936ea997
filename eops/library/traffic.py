"""Bytes that a call moves, with the copies that its layout would need.

A read costs the elements it touches.  Where the iterators of one role do not merge into one
dimension of a densely stored source, or the read leaves the source, a copy of the arranged operand
is added: written once, read once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod

from eops.dtypes import BYTES
from ta import affine
from ta.affine import Range, Row
from ta.node import Access, Scope, Source, Tensor
from ta.subst import accesses, stages

NARROW = 16
"""Matrix units work on tiles about this wide: narrower products leave them partly idle."""
LEAST_UTILISATION = 1 / 256


@lru_cache(maxsize=16384)
def element_bytes(source: Source) -> int:
    """The size of an element: for a stage, of the widest that it is computed from."""
    if isinstance(source, Tensor):
        return BYTES.get(source.dtype, 16)
    sizes = [
        BYTES.get(access.source.dtype, 16)
        for stage in stages(source)
        for access in accesses(stage.body)
        if isinstance(access.source, Tensor)
    ]
    return max(sizes, default=4)


def output_bytes(scope: Scope) -> float:
    return float(prod(scope.shape) * element_bytes(scope))


def dense_strides(source: Source, rows: Sequence[Row]) -> dict[int, int]:
    """Each iterator's step through a densely stored source: sum of coefficient * stride."""
    steps: dict[int, int] = {}
    stride = 1
    for row, bound in zip(reversed(rows), reversed(source.ranges), strict=True):
        for i, a in row.terms:
            steps[i] = steps.get(i, 0) + a * stride
        stride *= bound.extent
    return steps


def merges(role: Sequence[int], steps: Mapping[int, int], bounds: Mapping[int, Range]) -> bool:
    """Are the role's iterators one dimension of the source?"""
    found = [(abs(steps.get(i, 0)), bounds[i].extent) for i in role if bounds[i].extent > 1]
    found.sort(reverse=True)
    return all(outer[0] == inner[0] * inner[1] for outer, inner in pairwise(found))


def touched_bytes(access: Access, rows: Sequence[Row], bounds: Mapping[int, Range]) -> float:
    """The bytes of the source that `access.source[rows]` touches over the bounds."""
    held = set().union(*map(affine.iterators, rows))
    elements = prod(bounds[i].extent for i in held)
    size = element_bytes(access.source)
    return float(min(elements, prod(bound.extent for bound in access.source.ranges)) * size)


def copied_bytes(
    access: Access,
    rows: Sequence[Row],
    bounds: Mapping[int, Range],
    roles: Sequence[Sequence[int]] = (),
    unit_stride: Sequence[int] = (),
) -> float:
    """The bytes of the copies that give `access.source[rows]` one dimension for each role.

    `unit_stride`: if given, one of these iterators has to run along the memory.
    """
    size = element_bytes(access.source)
    held = set().union(*map(affine.iterators, rows))
    elements = prod(bounds[i].extent for i in held)
    box = [bounds.get(i, Range(0, 1)) for i in range(max(held, default=-1) + 1)]
    spans = [affine.bounds(row, box) for row in rows]
    lengths = [high + 1 - low for low, high in spans]
    pads = any(
        low < bound.lo or high >= bound.hi
        for (low, high), bound in zip(spans, access.source.ranges, strict=True)
    )
    total = 2 * min(elements, prod(lengths)) * size if pads else 0
    steps = dense_strides(access.source, rows)
    dense = all(merges(role, steps, bounds) for role in roles)
    along = [i for i in unit_stride if bounds[i].extent > 1]
    if not dense or (along and all(abs(steps.get(i, 0)) != 1 for i in along)):
        total += 2 * elements * size
    return float(total)


def read_bytes(
    access: Access,
    rows: Sequence[Row],
    bounds: Mapping[int, Range],
    roles: Sequence[Sequence[int]] = (),
) -> float:
    """What is touched and what is copied, for calls that are bound by memory anyway."""
    return touched_bytes(access, rows, bounds) + copied_bytes(access, rows, bounds, roles)


def utilisation(*extents: int) -> float:
    """The share of a matrix unit that a product of these extents keeps busy."""
    return max(LEAST_UTILISATION, prod(min(1.0, extent / NARROW) for extent in extents))
