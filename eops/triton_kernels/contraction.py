"""Recognising a matrix product in a stage, whatever its indices look like.

    Y[batch, m, n] = c * S[k] f(batch, m, k) * g(batch, k, n)

Each role may be played by several iterators.  Both sides are products of factors, which may be any
scalar expressions, such as exp(A[m,k]) * w[k], with any index rows: strided, overlapping, padded.
The roles follow from presence alone: an output iterator on both sides is batch, on the left only m,
on the right only n; every reduction iterator is k.  A condition on batch and k holds for both
sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.expr import const, mul, select, split_coefficient
from einderive.ta.ir.node import Access, Condition, Mul, Node, Scope, Select

LEAST_EXTENT: Final = 16
"""Below this a tile of `tl.dot`, at least 16 wide, would be mostly empty."""
MOST_FACTORS: Final = 6
ZERO: Final = const(0)


@dataclass(frozen=True, slots=True)
class Contraction:
    """`coefficient * S[k] left * right` and the iterator positions of each role."""

    left: Node
    right: Node
    coefficient: Fraction
    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]

    def ordered(self, offsets: Iterable[Row]) -> Contraction:
        """The contraction with k by falling stride in the offsets of its reads."""
        return replace(self, k=by_stride(self.k, offsets))


def by_stride(positions: Iterable[int], offsets: Iterable[Row]) -> tuple[int, ...]:
    """The iterators by falling stride in the offsets: reads run along the last one."""
    rows = tuple(offsets)

    def stride(position: int) -> int:
        steps = (abs(row.coefficient(position)) for row in rows)
        return min((step for step in steps if step), default=0)

    return tuple(sorted(positions, key=lambda p: (-stride(p), p)))


def contraction(scope: Scope) -> Contraction | None:
    """The stage as a matrix product with m, n and k all large, or None.  Of several, the one with
    the largest matrices."""
    coefficient, core = split_coefficient(scope.body)
    conditions: tuple[Condition, ...] = ()
    if isinstance(core, Select) and core.otherwise is ZERO:
        conditions = core.conditions
        inner, core = split_coefficient(core.then)
        coefficient = coefficient * inner if inner != 1 else coefficient
    if scope.reducer != "sum" or not isinstance(coefficient, Fraction):
        return None
    if not isinstance(core, Mul) or not 2 <= len(core.factors) <= MOST_FACTORS:
        return None
    found = [_roles(scope, *sides, coefficient) for sides in _sides(core.factors)]

    def size(roles: Contraction) -> tuple[int, bool, bool]:
        m, n = (prod(scope.domain[i].extent for i in role) for role in (roles.m, roles.n))
        return m * n, isinstance(roles.left, Access), isinstance(roles.right, Access)

    roles = max((one for one in found if one is not None), key=size, default=None)
    if roles is None:
        return None
    if max(roles.m) > max(roles.n):  # columns of a tile lie side by side in the result
        roles = replace(roles, left=roles.right, right=roles.left, m=roles.n, n=roles.m)
    if not conditions:
        return roles
    known = {*roles.batch, *roles.k}
    if any(not affine.iterators(condition.row) <= known for condition in conditions):
        return None
    left, right = (select(conditions, side, ZERO) for side in (roles.left, roles.right))
    return replace(roles, left=left, right=right)


def _sides(factors: tuple[Node, ...]) -> Iterator[tuple[Node, Node]]:
    """The ways to divide the factors among two sides, the first one left."""
    first, *others = factors
    for chosen in product((False, True), repeat=len(others)):
        if not all(chosen):
            kept = zip(others, chosen, strict=True)
            left, right = [first], list[Node]()
            for factor, is_left in kept:
                (left if is_left else right).append(factor)
            yield mul(*left), mul(*right)


def _roles(scope: Scope, left: Node, right: Node, coefficient: Fraction) -> Contraction | None:
    """The roles of the iterators for these sides; None where a matrix is small."""
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
