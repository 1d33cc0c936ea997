"""A scope as a part of a larger one.

    {L[x in X] f(x)}  =  {L[x in X] P[ρ(x)]}      where P read at ρ(x), its body inlined, is f(x)

P may compute more than X: this computes several scopes together that are parts of one P.  The check
is syntactic.  The body of P, with ρ substituted and resolved over X, has to be the identical scope,
after the sums of both are cut to the range where the body is not 0 and start at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import total, total_over
from einderive.derivations.effects.rounding import Exactness, judged, opens
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.maps import require_rows
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.needed import needed
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import substitute


@dataclass(frozen=True, slots=True)
class ReadPart(Witness):
    """Reads the scope as a part of a producer.

    - `producer`: the scope that is read.
    - `rows`: for each loop of the producer, its row of the scope's loops (ρ).
    """

    producer: Scope
    rows: tuple[Row, ...]

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The view of the producer that equals `scope`.  RuleRefused if it does not equal it."""
        producer, rows = self.producer, self.rows
        if len(rows) != len(producer.loops):
            raise RuleRefused("the witness has another number of rows than the producer has loops")
        if producer.empty:
            raise RuleRefused("an iterator has an empty range")
        require_rows(rows, len(scope.loops))
        if affine.leaving(rows, producer.loops, scope.loops):
            raise RuleRefused("the producer is read outside its loops")
        inlined = self._inlined(scope)
        if _normal(inlined, exact) is not _normal(scope, exact):
            raise RuleRefused("the producer, read back, is not the scope")
        return make_scope(scope.loops, (), expr.access(producer, rows))

    def _inlined(self, scope: Scope) -> Scope:
        """The producer over the scope's loops."""
        producer = self.producer
        body = substitute(producer.body, self._replacement(scope))
        return make_scope(scope.loops, producer.sums, body, producer.reducer)

    def _replacement(self, scope: Scope) -> Sequence[Row]:
        """The producer's iterators, its reduction iterators behind the scope's loops."""
        first = len(scope.loops)
        return (*self.rows, *affine.iterator_rows(first + len(self.producer.sums))[first:])

    def told(self, scope: Scope, names: Names) -> str:
        read = expr.access(self.producer, self.rows)
        return f"it is read as {names.term(read, scope)}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """The producer's part becomes the scope, and the other way round."""
        if opens(before, after, deep=True):
            return "cancels"
        return judged(stated, after, before, deep=True, moved=True)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """Whether the producer, read back, is the scope as it stands, and only branches that are
        not taken were dropped."""
        box = before.loops + self.producer.sums
        kept = total_over(self.producer.body, self._replacement(before), box)
        return self._inlined(before) is before and kept == total(before.body)


def _normal(scope: Scope, exact: bool) -> Scope:
    """The scope with tightened sums that begin at 0."""
    scope = _tightened(scope, exact)
    if all(bound.lo == 0 for bound in scope.sums):
        return scope
    sums = affine.iterator_rows(len(scope.domain))[len(scope.loops) :]
    forward = tuple(affine.shift(row, r.lo) for row, r in zip(sums, scope.sums, strict=True))
    backward = tuple(affine.shift(row, -r.lo) for row, r in zip(sums, scope.sums, strict=True))
    ranges = tuple(Range(0, bound.extent) for bound in scope.sums)
    return ReindexSums(forward, backward, ranges).apply(scope, exact)


def _tightened(scope: Scope, exact: bool) -> Scope:
    """The scope with its sums cut, step by step, to where the body is not shown to be 0."""
    while scope.reducer == "sum":
        first = len(scope.loops)
        ranges = tuple(needed(scope, first + s) for s in range(len(scope.sums)))
        if ranges == scope.sums or any(r.lo >= r.hi for r in ranges):
            return scope
        same = affine.iterator_rows(len(scope.domain))[first:]
        scope = ReindexSums(same, same, ranges).apply(scope, exact)
    return scope
