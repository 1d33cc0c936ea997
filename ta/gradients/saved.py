"""Gradients that read what the forward pass has computed.

    Y[i] = exp(X[i])     dX[i] = dY[i]*exp(X[i])     with Y kept:  dX[i] = dY[i]*Y[i]

A gradient holds the scopes of its formula.  Where one of them is kept, its readers read a tensor in
its place; so does a term that is the body of a kept scope without sums.  The sign of an argument is
read from a kept value that has it: 0 < x where 0 < relu(x).  `is_gradient` puts the
definition in the tensor's place again and compares: by identity of expressions, or by random
identity testing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from math import perm
from typing import Final

from einderive.ta.equality.compare import compare
from einderive.ta.equality.small_extents import reduce_extents
from einderive.ta.functions import FUNCTIONS
from einderive.ta.gradients.products import ZERO
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Access, Apply, Mul, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import (
    accesses,
    children,
    fold,
    points_of,
    stages,
    substitute,
    with_children,
)

Kept = Mapping[Scope, Tensor]
"""Scopes of the formula whose ranges begin at 0, and the tensors that hold their values."""

MOST_ORDERS: Final = 120
"""If a term could be that of a kept scope in more orders of its iterators, it is not looked for."""
MOST_POINTS: Final = 1_000_000


def reading(roots: Sequence[Scope], kept: Kept) -> tuple[Scope, ...]:
    """The scopes in which the kept ones are read as tensors."""
    done: dict[Source, Source] = dict(kept.items())
    for stage in stages(*roots):
        if stage in kept and stage not in roots:
            continue
        body = stage.body
        for term, read in _terms(stage, kept):
            body = _with(body, term, read)
        done[stage] = make(stage.loops, stage.sums, _redirected(body, done), stage.reducer)
    return tuple(_scope(done[root]) for root in roots)


def restored(roots: Sequence[Scope], kept: Kept) -> tuple[Scope, ...]:
    """The scopes in which the definitions stand in the place of the tensors."""
    done: dict[Source, Source] = {tensor: scope for scope, tensor in kept.items()}
    for stage in stages(*roots):
        body = stage.body
        for term, read in _terms(stage, kept):
            if _has_sign_of_argument(term):
                body = _with(body, _is_positive(read), _is_positive(children(term)[0]))
        done[stage] = make(stage.loops, stage.sums, _redirected(body, done), stage.reducer)
    return tuple(_scope(done[root]) for root in roots)


def is_gradient(found: Sequence[Scope], gradient: Sequence[Scope], kept: Kept) -> bool:
    """Whether the scopes are shown to be the gradient, each tensor holding its scope's values."""
    whole = restored(found, kept)
    if all(one is other for one, other in zip(whole, gradient, strict=True)):
        return True
    small = reduce_extents(list(whole), list(gradient))
    if points_of(*small.left, *small.right) > MOST_POINTS:
        return False
    return compare(small.left, small.right).equal


def readable(formula: Sequence[Scope], gradient: Sequence[Scope]) -> list[Scope]:
    """The scopes of the formula that the gradient computes again, and whose values can be kept."""
    own = {*stages(*formula)}
    return [
        scope
        for scope in stages(*gradient)
        if scope in own and scope.loops and all(loop.lo == 0 for loop in scope.loops)
    ]


def _scope(source: Source) -> Scope:
    assert isinstance(source, Scope)
    return source


def _redirected(body: Node, done: Mapping[Source, Source]) -> Node:
    def visit(node: Node, parts: tuple[Node, ...]) -> Node:
        if isinstance(node, Access):
            source = done.get(node.source, node.source)
            return node if source is node.source else expr.access(source, node.rows, node.fill)
        return with_children(node, parts) if parts != children(node) else node

    return fold(body, visit)


def _terms(host: Scope, kept: Kept) -> Iterator[tuple[Node, Node]]:
    """Terms over the iterators of the host that are bodies of kept scopes, and the reads that have
    their values."""
    for scope, tensor in kept.items():
        if scope.sums or not children(scope.body) or scope is host:
            continue
        for rows in _orders(host, scope):
            term, read = substitute(scope.body, rows), expr.access(tensor, rows)
            yield term, read
            if _has_sign_of_argument(term):
                yield _is_positive(children(term)[0]), _is_positive(read)


def _orders(host: Scope, scope: Scope) -> Iterator[list[Row]]:
    """The rows that may stand for the loops of a scope: iterators of the host, each at most once,
    of the same ranges.  A loop of one place may be that place."""
    alone = [place for place, loop in enumerate(scope.loops) if loop.extent == 1]
    for fixed in (alone, []) if alone else ([],):
        moving = [place for place in range(len(scope.loops)) if place not in fixed]
        if perm(len(host.domain), len(moving)) > MOST_ORDERS:
            continue
        for places in permutations(range(len(host.domain)), len(moving)):
            pairs = list(zip(moving, places, strict=True))
            if all(host.domain[own] == scope.loops[loop] for loop, own in pairs):
                rows = {loop: affine.constant(scope.loops[loop].lo) for loop in fixed}
                rows |= {loop: affine.iterator(own) for loop, own in pairs}
                yield [rows[loop] for loop in range(len(scope.loops))]


def _has_sign_of_argument(term: Node) -> bool:
    """Whether the term is f(x) with f(x) = a*x above 0, a > 0, and 0 below."""
    pieces = FUNCTIONS[term.function].pieces if isinstance(term, Apply) else None
    if pieces is None or len(children(term)) != 1:
        return False
    return pieces.gap == (1,) and pieces.above[0] > 0 and pieces.below == (0,)


def _is_positive(term: Node) -> Node:
    return expr.apply("less", ZERO, term)


def _with(body: Node, term: Node, read: Node) -> Node:
    """The body with the read in the place of the term, also of some factors of a product."""

    def visit(node: Node, parts: tuple[Node, ...]) -> Node:
        if node is term:
            return read
        if isinstance(node, Mul) and isinstance(term, Mul):
            left = list(node.factors)
            for factor in term.factors:
                if factor not in left:
                    break
                left.remove(factor)
            else:
                return expr.mul(read, *left)
        return with_children(node, parts) if parts != children(node) else node

    return fold(body, visit)


def reads(roots: Sequence[Scope], tensor: Tensor) -> bool:
    """Whether one of the scopes, or what they read, reads the tensor."""
    return any(read.source is tensor for stage in stages(*roots) for read in accesses(stage.body))
