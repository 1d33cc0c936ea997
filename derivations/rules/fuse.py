"""Fuse.   i = n*q + p for two iterators q, p in 0:n that occur in this combination only; q is i//n
and p is i%n."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, loops_witness
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope


def _pairs(scope: Scope) -> Iterator[tuple[int, int, int]]:
    """(q, p, n): iterators with extents M and n from 0, which every row holds as a*(n*q + p)."""
    rows = affine_rows(scope)
    for row in rows:
        for p, a in row.terms:
            n = scope.domain[p].extent
            for q, b in row.terms:
                fits = n > 1 and b == a * n and scope.domain[p].lo == scope.domain[q].lo == 0
                if fits and all(r.coefficient(q) == n * r.coefficient(p) for r in rows):
                    yield q, p, n


def propose(scope: Scope) -> Iterator[Witness]:
    """Pairs of loops, or of reduction iterators, that occur only as n*q + p."""
    first = len(scope.loops)
    for q, p, n in dict.fromkeys(_pairs(scope)):
        fused = affine.add(affine.iterator(p), affine.iterator(q), n)
        quotient = affine.floordiv(affine.iterator(q), n)
        rest = affine.modulo(affine.iterator(q), n)
        bound = Range(0, scope.domain[q].extent * n)
        if q < first and p < first:
            forward = [affine.iterator(i) for i in range(first)]
            backward = list(forward)
            forward[q], forward[p], backward[q] = quotient, rest, fused
            ranges = list(scope.loops)
            ranges[q] = bound
            yield loops_witness(scope, forward, backward, ranges)
        elif q >= first and p >= first:
            kept = [i for i in range(first, len(scope.domain)) if i != p]
            place = {old: affine.iterator(first + new) for new, old in enumerate(kept)}
            replaced = {**place, q: affine.substitute(quotient, place)}
            replaced[p] = affine.substitute(rest, place)
            yield ReindexSums(
                tuple(replaced[i] for i in range(first, len(scope.domain))),
                tuple(fused if i == q else affine.iterator(i) for i in kept),
                tuple(bound if i == q else scope.domain[i] for i in kept),
            )


FUSE = Rule(**stated(__name__), propose=propose)
