"""A change of reduction iterators.

Let Y be the box of the reduction iterators, D' a box, and Φ, Ψ rows in loops and reduction
iterators.  If Φ(Ψ(y)) = y on Y, Ψ(Φ(y')) = y' on D', f(y) is zero wherever Ψ(y) leaves D', and
f(Φ(y')) is zero wherever Φ(y') leaves Y, then

    S[y in Y] f(y)  =  S[y' in D'] f(Φ(y'))

If Ψ(y) stays in D' and Φ(y') stays in Y everywhere, the identity holds for max, min and prod too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from einderive.derivations.steps.maps import Maps, require_zero
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.zeros import Read
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import substitute


@dataclass(frozen=True, slots=True)
class ReindexSums(Maps):
    """Changes the reduction iterators.

    - `forward`: for each old reduction iterator, its row of loops and new reduction iterators (Φ).
    - `backward`: for each new reduction iterator, its row of loops and old reduction iterators (Ψ).
    - `ranges`: the ranges of the new reduction iterators.
    """

    of_sums: ClassVar[bool] = True

    def leaving(self, scope: Scope) -> list[Read]:
        return [*self._lost(scope), *self._gained(scope)]

    def _lost(self, scope: Scope) -> list[Read]:
        return affine.leaving(self.backward, self.ranges, scope.domain)

    def _gained(self, scope: Scope) -> list[Read]:
        return affine.leaving(self.forward, scope.sums, scope.loops + self.ranges)

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope with its reduction iterators y replaced by Φ(y').  RuleRefused if they are not
        equal."""
        loops, first = scope.loops, len(scope.loops)
        box = loops + self.ranges
        self.require_fitting(scope, len(scope.sums))
        _require_inverse(self.forward, self.backward, scope.domain, first)
        _require_inverse(self.backward, self.forward, box, first)
        body = substitute(scope.body, (*affine.iterator_rows(first), *self.forward))
        what = "the sum would lose points where its"
        require_zero(scope, scope.body, scope.domain, self._lost(scope), exact, what)
        what = "the sum would gain points where its"
        require_zero(scope, body, box, self._gained(scope), exact, what)
        return make_scope(loops, self.ranges, body, scope.reducer)


def _require_inverse(
    outer: Sequence[Row], inner: Sequence[Row], ranges: Sequence[Range], first: int
) -> None:
    """`outer(inner(x)) = x` for x in the box; iterators before `first` are parameters.  The rows
    are in canonical form."""
    replacement = (*affine.iterator_rows(first), *inner)
    for position, row in enumerate(outer, first):
        composed = affine.simplify(affine.substitute(row, replacement), ranges)
        if composed.lone != position and not _constant_one(composed, ranges[position]):
            raise RuleRefused("the two maps of the witness are not inverse to each other")


def _constant_one(row: Row, bound: Range) -> bool:
    """An iterator of extent 1 equals its only value."""
    return bound.extent == 1 and row == Row(bound.lo)
