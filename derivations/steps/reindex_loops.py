"""A change of loops.

Let X be the box of a scope's loops, D' a box, and Φ, Ψ rows with f(Φ(Ψ(x))) = f(x) on X.  If Ψ(x)
lies in D' for every x in X, or f is zero at the x where it does not, then

    {L[x in X] f(x)}  =  {L[x in X] {L[x' in D'] f(Φ(x'))}[Ψ(x)]}

D' may be larger than Ψ(X): the further elements are computed and never read (over-computation).  Ψ
may map several x to one x' where f is the same for them (a loop that f does not use).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from einderive.derivations.steps.maps import Maps, require_zero
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.zeros import Read
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import substitute


@dataclass(frozen=True, slots=True)
class ReindexLoops(Maps):
    """Changes the loops.

    - `forward`: for each old loop, its row of the new loops (Φ).
    - `backward`: for each new loop, its row of the old loops (Ψ).
    - `ranges`: the box D' of the new loops.
    """

    of_sums: ClassVar[bool] = False

    def leaving(self, scope: Scope) -> list[Read]:
        return affine.leaving(self.backward, self.ranges, scope.loops)

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The view of the reindexed scope that equals `scope`.  RuleRefused if it does not equal
        it."""
        loops, ranges = scope.loops, self.ranges
        self.require_fitting(scope, len(loops))
        new_sums = affine.iterator_rows(len(ranges) + len(scope.sums))[len(ranges) :]
        body = substitute(scope.body, (*self.forward, *new_sums))
        if not self._returns(scope):
            old_sums = affine.iterator_rows(len(scope.domain))[len(loops) :]
            back = substitute(body, (*self.backward, *old_sums))
            if make_scope(loops, scope.sums, back, scope.reducer) is not scope:
                raise RuleRefused("the new scope, read back, is not the old one")
        if self.leaving(scope):  # the new body is read there as 0
            image = [affine.row_range(row, loops) for row in self.backward]
            wide = [
                Range(min(a.lo, b.lo), max(a.hi, b.hi)) for a, b in zip(image, ranges, strict=True)
            ]
            beyond = affine.leaving(affine.iterator_rows(len(ranges)), ranges, wide)
            what = "the loops would shrink over points where the"
            require_zero(scope, body, (*wide, *scope.sums), beyond, exact, what)
        inner = make_scope(ranges, scope.sums, body, scope.reducer)
        return make_scope(loops, (), expr.access(inner, self.backward))

    def _returns(self, scope: Scope) -> bool:
        """Whether Φ(Ψ(x)) = x for the loops that f uses: then f(Φ(Ψ(x))) = f(x) whatever f is."""
        for position, row in enumerate(self.forward):
            if scope.body.free >> position & 1:
                composed = affine.substitute(row, self.backward)
                if affine.simplify(composed, scope.loops).lone != position:
                    return False
        return True
