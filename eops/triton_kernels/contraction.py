"""Recognising a matrix product in a stage, whatever its indices look like.

    Y[batch, m, n] = c * S[k] A[batch, m, k] * B[batch, k, n]

Each role may be played by several iterators, and each index may be any quasi-affine row: strided,
overlapping, padded.  The roles follow from presence alone: an output iterator in both operands is
batch, in A only m, in B only n; every reduction iterator is k.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from einderive.ta.ir.affine import Row
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Mul, Scope

LEAST_EXTENT = 16
"""Below this a tile of `tl.dot`, at least 16 wide, would be mostly empty."""


@dataclass(frozen=True, slots=True)
class Contraction:
    """`coefficient * S[k] left * right` and the iterator positions of each role."""

    left: Access
    right: Access
    coefficient: Fraction
    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]

    def ordered(self, left: Row, right: Row) -> Contraction:
        """The contraction with k by falling stride in the operands' offsets."""
        return replace(self, k=by_stride(self.k, (left, right)))


def by_stride(positions: Iterable[int], offsets: Iterable[Row]) -> tuple[int, ...]:
    """The iterators by falling stride in the offsets: reads run along the last one."""
    rows = tuple(offsets)

    def stride(position: int) -> int:
        steps = (abs(row.coefficient(position)) for row in rows)
        return min((step for step in steps if step), default=0)

    return tuple(sorted(positions, key=lambda p: (-stride(p), p)))


def contraction(scope: Scope) -> Contraction | None:
    """The stage as a matrix product with m, n and k all large, or None."""
    coefficient, core = split_coefficient(scope.body)
    if scope.reducer != "sum" or not isinstance(coefficient, Fraction):
        return None
    if not isinstance(core, Mul) or len(core.factors) != 2:
        return None
    left, right = core.factors
    if not isinstance(left, Access) or not isinstance(right, Access):
        return None
    loops = range(len(scope.loops))
    in_left = {i for i in loops if left.free >> i & 1}
    in_right = {i for i in loops if right.free >> i & 1}
    roles = Contraction(
        left,
        right,
        coefficient,
        batch=tuple(i for i in loops if (i in in_left) == (i in in_right)),
        m=tuple(sorted(in_left - in_right)),
        n=tuple(sorted(in_right - in_left)),
        k=tuple(range(len(scope.loops), len(scope.domain))),
    )
    extents = (prod(scope.domain[i].extent for i in r) for r in (roles.m, roles.n, roles.k))
    return roles if all(extent >= LEAST_EXTENT for extent in extents) else None
