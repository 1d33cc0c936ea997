"""The bytes that a call moves, including the copies that its layout needs.

A read costs the elements that it touches.  If the iterators of one role do not merge into one
dimension of a densely stored source, or the read leaves the source, a copy of the arranged operand
is added: written once, read once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Ranges, Row
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Access, Scope
from einderive.ta.traffic.walks import dense_strides, held_strides, merges

LONG_RUN = 3
"""A copy of runs of so many elements takes as long as one of a transposed matrix; in longer runs,
the rest of the elements are copied as in a dense copy."""


class Traffic(NamedTuple):
    """Bytes that a call moves, those that are copied before it element by element, and those of
    these copies that lie in long runs."""

    moved: float
    copied: float
    in_runs: float = 0.0


def output_bytes(scope: Scope) -> float:
    return float(scope.size * element_bytes(scope))


def operand_bytes(
    access: Access,
    rows: Sequence[Row],
    bounds: Ranges,
    roles: Sequence[Sequence[int]] = (),
    unit_stride: Sequence[int] = (),
) -> Traffic:
    """The bytes of the source that `access.source[rows]` touches over the bounds, and those of the
    copies that give it one dimension for each role.

    `unit_stride`: if given, one of these iterators has to run along the memory.
    """
    source = access.source
    steps: dict[int, int] = {}
    lengths, pads = 1, False
    for row, (start, stop), stride in zip(rows, source.ranges, held_strides(source), strict=True):
        low, terms, floors = row
        high = low
        for i, a in terms:  # with the row's bounds, as no other function is called as often
            steps[i] = steps.get(i, 0) + a * stride
            lo, hi = bounds[i]
            if a > 0:
                low += a * lo
                high += a * (hi - 1)
            else:
                low += a * (hi - 1)
                high += a * lo
        if floors:
            low, high = affine.bounds(row, bounds)
            steps = dict.fromkeys(affine.iterators(row), 0) | steps
        lengths *= high + 1 - low
        if low < start or high >= stop:
            pads = True
    elements = 1
    for i in steps:
        lo, hi = bounds[i]
        elements *= hi - lo
    copied, in_runs = 2.0 * min(elements, lengths) if pads else 0.0, 0.0
    dense = True
    for role in roles:
        if len(role) > 1 and not merges(role, steps, bounds):
            dense = False
            break
    if not dense or not _runs_along(unit_stride, steps, bounds):
        single = min(1.0, LONG_RUN / _run(roles[-1] if roles else (), steps, bounds))
        copied += 2.0 * elements * single
        in_runs = 2.0 * elements * (1.0 - single)
    size = element_bytes(source)
    return Traffic(float(min(elements, source.size) * size), copied * size, in_runs * size)


def _run(role: Sequence[int], steps: Mapping[int, int], bounds: Ranges) -> int:
    """The elements beside each other in the memory that are so in the copy too: along the last
    role."""
    run = 1
    for i in reversed(role):
        lo, hi = bounds[i]
        if hi - lo > 1 and abs(steps.get(i, 0)) != run:
            break
        run *= hi - lo
    return run


def overlap_bytes(access: Access, role: Sequence[int], extents: Sequence[int]) -> float:
    """The bytes of the copy that a matrix product needs of an operand that shows elements several
    times along these iterators, as im2col does."""
    steps = dense_strides(access.source, access.rows)
    held = [i for i in role if access.free >> i & 1]
    shown = prod(extents[i] for i in held)
    reached = 1 + sum(abs(steps.get(i, 0)) * (extents[i] - 1) for i in held)
    whole = affine.volume(extents, access.free)
    return 2.0 * whole * element_bytes(access.source) if shown > reached else 0.0


def _runs_along(chosen: Sequence[int], steps: Mapping[int, int], bounds: Ranges) -> bool:
    """Whether one of the chosen iterators steps by one, or none steps at all."""
    still = True
    for i in chosen:
        lo, hi = bounds[i]
        if hi - lo > 1:
            if abs(steps.get(i, 0)) == 1:
                return True
            still = False
    return still


def read_bytes(
    access: Access, rows: Sequence[Row], bounds: Ranges, roles: Sequence[Sequence[int]] = ()
) -> float:
    """The bytes that a read touches and the bytes that are copied, for calls that are bound by
    memory."""
    return sum(operand_bytes(access, rows, bounds, roles))


def call_bytes(scope: Scope, *operands: Traffic) -> Traffic:
    """The traffic of a call, its output included."""
    moved, copied, in_runs = output_bytes(scope), 0.0, 0.0
    for operand in operands:
        moved += operand.moved
        copied += operand.copied
        in_runs += operand.in_runs
    return Traffic(moved, copied, in_runs)
