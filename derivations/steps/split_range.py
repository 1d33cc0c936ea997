"""A scope in two pieces.

    loop        {L[x:a:b] f(x)} = {L[x:a:b] where(x < c, {L[x:a:c] f}[x], {L[x:c:b] f}[x])}
    reduction   S[k:a:b] f(k)   = {S[k:a:c] f(k)} + {S[k:c:b] f(k)}

A piece may be simpler on its own range: conditions are decided there, and reads stay inside.
Source: EinNet (OSDI'23), expression splitting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from einderive.derivations.effects.nonfinite import total, total_over
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Scope


@dataclass(frozen=True, slots=True)
class SplitRange(Witness):
    """Cuts an iterator's range in two.

    - `position`: the iterator, loops first.
    - `at`: the place of the cut.
    """

    position: int
    at: int

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope computed in two pieces on either side of the cut."""
        position, at = self.position, self.at
        if not 0 <= position < len(scope.domain):
            raise RuleRefused("the scope has no such iterator")
        bound = scope.domain[position]
        if not bound.lo < at < bound.hi:
            raise RuleRefused("the cut does not lie inside the range")
        rows = affine.iterator_rows(len(scope.loops))
        low, high = (expr.access(_piece(scope, box), rows) for box in self._boxes(scope))
        if position < len(scope.loops):
            beyond = Condition(">=", affine.shift(affine.iterator(position), -at))
            return make_scope(scope.loops, (), expr.select([beyond], high, low))
        if scope.reducer != "sum":
            raise RuleRefused(f"only a sum is the sum of its pieces, not {scope.reducer}")
        return make_scope(scope.loops, (), expr.add(low, high))

    def _boxes(self, scope: Scope) -> Iterator[tuple[Range, ...]]:
        """The scope's ranges, that of the iterator ended at the cut, and begun there."""
        bound = scope.domain[self.position]
        for half in (Range(bound.lo, self.at), Range(self.at, bound.hi)):
            yield (*scope.domain[: self.position], half, *scope.domain[self.position + 1 :])

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        lo, hi = scope.domain[self.position]
        name = names.of(scope)[self.position]
        return ((name, f"{lo}:{hi}"), ("a < c < b", f"{lo} < {self.at} < {hi}"))

    def told(self, scope: Scope, names: Names) -> str:
        (name, bounds), at = self.bound(scope, names)[0], self.at
        return f"the range {bounds} of {name} is cut at {at}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """The choice between the pieces, or their sum, takes each piece as a whole."""
        return judged(stated, before, after, pieces=True)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """Whether nothing is dropped on either piece except branches that are not taken."""
        same = affine.iterator_rows(len(before.domain))
        return all(
            total_over(before.body, same, box) == total(_piece(before, box).body)
            for box in self._boxes(before)
        )


def _piece(scope: Scope, box: Sequence[Range]) -> Scope:
    first = len(scope.loops)
    return make_scope(box[:first], box[first:], scope.body, scope.reducer)
