"""A scope in two pieces.

    loop        {L[x:a:b] f(x)} = {L[x:a:b] where(x < c, {L[x:a:c] f}[x], {L[x:c:b] f}[x])}
    reduction   S[k:a:b] f(k)   = {S[k:a:c] f(k)} + {S[k:c:b] f(k)}

On its own range each piece may be simpler: conditions are decided there, borders are not met.
Source: EinNet (OSDI'23), expression splitting.
"""

from __future__ import annotations

from dataclasses import dataclass

from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Node, Scope


@dataclass(frozen=True, slots=True)
class SplitRange:
    """`position`: the iterator, loops first; `at`: where its range is cut."""

    position: int
    at: int


def split_range(scope: Scope, witness: SplitRange) -> Scope:
    """The scope computed in two pieces on either side of the cut."""
    position, at = witness.position, witness.at
    if not 0 <= position < len(scope.domain):
        raise RuleRefused("the scope has no such iterator")
    if any(r.lo >= r.hi for r in scope.domain):
        raise RuleRefused("an iterator has an empty range")
    bound = scope.domain[position]
    if not bound.lo < at < bound.hi:
        raise RuleRefused("the cut does not lie inside the range")
    low = _piece(scope, position, Range(bound.lo, at))
    high = _piece(scope, position, Range(at, bound.hi))
    if position < len(scope.loops):
        beyond = Condition(">=", affine.shift(affine.iterator(position), -at))
        return make_scope(scope.loops, (), expr.select([beyond], high, low))
    if scope.reducer != "sum":
        raise RuleRefused(f"only a sum is the sum of its pieces, not {scope.reducer}")
    return make_scope(scope.loops, (), expr.add(low, high))


def _piece(scope: Scope, position: int, bound: Range) -> Node:
    """The read of the scope with one range cut."""
    domain = [*scope.domain[:position], bound, *scope.domain[position + 1 :]]
    first = len(scope.loops)
    nested = make_scope(domain[:first], domain[first:], scope.body, scope.reducer)
    return expr.access(nested, [affine.iterator(i) for i in range(first)])
