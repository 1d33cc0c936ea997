"""Forms of a body that several recognisers look for.

c*S[i,j] + rest     S a nested sum read as it is
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import prod
from typing import NamedTuple

from einderive.frontend.baselines.writing.idioms import ways
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Mul, Node, Number, Scope
from einderive.ta.ir.subst import substitute


class Plus(NamedTuple):
    """`coefficient * inner + scale * rest`, `inner` with the loops of the whole."""

    coefficient: Number
    inner: Scope
    scale: Number
    rest: Access


def difference_of_reads(node: Node) -> tuple[tuple[Access, Access], bool] | None:
    """The reads of `(X-Z)^2` or `abs(X-Z)`, and whether it is the latter."""
    for formula in ("(X-Z)^2", "abs(X-Z)"):
        for found in ways(node, formula):
            a, b = found["X"], found["Z"]
            if isinstance(a, Access) and isinstance(b, Access):
                return (a, b), formula.startswith("abs")
    return None


def plus(scope: Scope) -> Plus | None:
    """A nested sum over the same loops, plus a read."""
    if scope.sums or not isinstance(scope.body, Add) or len(scope.body.terms) != 2:
        return None
    left, right = map(split_coefficient, scope.body.terms)
    for (c, first), (s, second) in ((left, right), (right, left)):
        if not isinstance(first, Access) or not isinstance(second, Access):
            return None
        inner = first.source
        if isinstance(inner, Scope) and inner.sums and as_it_is(first, scope):
            return Plus(c, inner, s, second)
    return None


def as_it_is(read: Access, scope: Scope) -> bool:
    """Whether the read is of a tensor over the scope's loops, at their own place."""
    return read.source.ranges == scope.loops and read.rows == affine.iterator_rows(len(scope.loops))


def over(read: Access, dims: tuple[int, ...], domain: tuple[Range, ...]) -> bool:
    """Whether the read is of the whole of a tensor whose dimensions are these iterators."""
    return [row.lone for row in read.rows] == list(dims) and read.source.ranges == tuple(
        domain[i] for i in dims
    )


def reductions(read: Node, scope: Scope) -> Iterator[tuple[Number, Node, tuple[int, ...], str]]:
    """A read of a nested reduction as `coefficient * reducer(body)` with the body over the scope's
    own loops: those of `dims` take the place of the iterators that are reduced.

    Every choice of loops with their ranges that the read does not hold itself."""
    coefficient, core = split_coefficient(read)
    if not isinstance(core, Access) or not isinstance(core.source, Scope) or not core.source.sums:
        return
    inner = core.source
    for row, bound in zip(core.rows, inner.loops, strict=True):
        low, high = affine.bounds(row, scope.domain)
        if low < bound.lo or high >= bound.hi:
            return
    free = [i for i in range(len(scope.loops)) if not core.free >> i & 1]
    inside, body = split_coefficient(inner.body)
    if inner.reducer != "sum":
        inside, body = 1, inner.body
    for dims in permutations(free, len(inner.sums)):
        if all(scope.loops[i] == bound for i, bound in zip(dims, inner.sums, strict=True)):
            rows = [*core.rows, *map(affine.iterator, dims)]
            yield coefficient * inside, substitute(body, rows), dims, inner.reducer


def extent(dims: Sequence[int], domain: Sequence[Range]) -> int:
    return prod(domain[i].extent for i in dims)


def weights_apart(scope: Scope) -> Iterator[Scope]:
    """Sums of products in which all factors but one operand are a stage: w(i,j)*u(i)*V[j] is
    W[i,j]*V[j], once for each operand."""
    factors = scope.body.factors if isinstance(scope.body, Mul) else ()
    for values in factors if len(factors) > 2 else ():
        if isinstance(values, Access):
            body = expr.mul(*(factor for factor in factors if factor is not values))
            used = [*affine.bits(body.free)]
            places = {i: affine.iterator(place) for place, i in enumerate(used)}
            loops = tuple(scope.domain[i] for i in used)
            weights = make_scope(loops, (), substitute(body, places))
            read = expr.access(weights, [affine.iterator(i) for i in used])
            yield make_scope(scope.loops, scope.sums, expr.mul(values, read), scope.reducer)
