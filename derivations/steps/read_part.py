"""A scope as a part of a larger one.

    {L[x in X] f(x)}  =  {L[x in X] P[ρ(x)]}      where P read at ρ(x), its body inlined, is f(x)

P may compute more than X asks for: several scopes that are parts of one P are computed together.
The check is syntactic: P's body with ρ substituted, resolved over X, has to be the very scope once
the sums of both are cut to where the body is not 0 and counted from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.derivations.steps.propose import needed
from einderive.derivations.steps.reindex_loops import (
    ReindexSums,
    inside,
    reindex_sums,
    require_rows,
    row_range,
)
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import substitute


@dataclass(frozen=True, slots=True)
class ReadPart:
    """`rows[j]` is the producer's loop j as a row of the scope's loops (ρ)."""

    producer: Scope
    rows: tuple[Row, ...]


def read_part(scope: Scope, witness: ReadPart, exact: bool = True) -> Scope:
    """The view of the producer that equals `scope`; RuleRefused where it does not."""
    producer, rows = witness.producer, witness.rows
    if len(rows) != len(producer.loops):
        raise RuleRefused("the witness has another number of rows than the producer has loops")
    if any(r.lo >= r.hi for r in scope.domain + producer.domain):
        raise RuleRefused("an iterator has an empty range")
    require_rows(rows, len(scope.loops))
    for row, bound in zip(rows, producer.loops, strict=True):
        if not inside(row_range(row, scope.loops), bound):
            raise RuleRefused("the producer is read outside its loops")
    first = len(scope.loops)
    sums = [affine.iterator(first + s) for s in range(len(producer.sums))]
    body = substitute(producer.body, (*rows, *sums))
    inlined = make_scope(scope.loops, producer.sums, body, producer.reducer)
    if _normal(inlined, exact) is not _normal(scope, exact):
        raise RuleRefused("the producer, read back, is not the scope")
    return make_scope(scope.loops, (), expr.access(producer, rows))


def _normal(scope: Scope, exact: bool) -> Scope:
    """The scope with tightened sums that begin at 0."""
    scope = _tightened(scope, exact)
    if all(bound.lo == 0 for bound in scope.sums):
        return scope
    first = len(scope.loops)
    sums = [affine.iterator(first + s) for s in range(len(scope.sums))]
    forward = tuple(affine.shift(row, r.lo) for row, r in zip(sums, scope.sums, strict=True))
    backward = tuple(affine.shift(row, -r.lo) for row, r in zip(sums, scope.sums, strict=True))
    ranges = tuple(Range(0, bound.extent) for bound in scope.sums)
    return reindex_sums(scope, ReindexSums(forward, backward, ranges), exact)


def _tightened(scope: Scope, exact: bool) -> Scope:
    """The scope with its sums cut, step by step, to where the body is not shown to be 0."""
    while scope.reducer == "sum":
        first = len(scope.loops)
        ranges = tuple(needed(scope, first + s) for s in range(len(scope.sums)))
        if ranges == scope.sums or any(r.lo >= r.hi for r in ranges):
            return scope
        same = tuple(affine.iterator(first + s) for s in range(len(ranges)))
        scope = reindex_sums(scope, ReindexSums(same, same, ranges), exact)
    return scope
