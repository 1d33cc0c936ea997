"""Sums of parts about a provisional mean of each.

    S[s,t] g(s)*f(s,t)            =  S[s] g(s)*(D1 + n*c)
    S[s,t] g(s)*(f(s,t)-a(s))^2   =  S[s] g(s)*(D2 + 2*(c-a(s))*D1 + n*(c-a(s))^2)

    D1 = S[t] (f(s,t)-c),   D2 = S[t] (f(s,t)-c)^2,   n the number of values of t

Both hold for any c(s).  It is the mean of the part's first terms,

    c(s)  =  S[u:0:m] f(s,u)/m

One pass over f gives D1 and D2 of all parts, and these the sum, the mean and the squared deviations
from it.  With a mean that has to be known first, f is read twice.  D1 and D2 have the size of the
deviations within a part, so that no digits of the mean are lost.  If one of the first terms is far
from all others, D2 is larger than its deviation squared by the factor n/m^2; for m^2 >= n, by none.

Source: the shifted data of the variance, and its combination from parts (T. F. Chan, G. H. Golub,
R. J. LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import NamedTuple

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import lift
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Power, Scope
from einderive.ta.ir.subst import accesses, factors_of, substitute, terms_of


class Parts(NamedTuple):
    """g, f, and a where the square of f - a is summed."""

    outside: Node
    data: Node
    centre: Node | None


def as_read(data: Node) -> tuple[int, ...]:
    """The iterators in the order of the dimensions that they index: totals in this order lie in
    memory as the data do."""
    rows = (row for read in accesses(data) for row in read.rows)
    return tuple(dict.fromkeys(i for row in rows for i in sorted(affine.iterators(row))))


@dataclass(frozen=True, slots=True)
class ProvisionalMean(Witness):
    """Sums parts about a provisional mean of each.

    - `inner`: the reduction iterators of a part (positions among them, 0 first).
    - `terms`: how many terms the provisional mean has: the first ones of the last of these
      iterators, with the others at their first values.
    """

    inner: tuple[int, ...]
    terms: int

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope whose parts are summed about their provisional means."""
        if may_be_infinite(scope.body):
            # inf*(f - c) has a value where inf*f - inf*c has none
            raise RuleRefused("an infinite number takes part")
        found = self.parts(scope)
        first, count = len(scope.loops), len(scope.sums)
        inner = set(self.inner)
        start = self._mean(scope, found.data)
        apart = expr.subtract(found.data, start)
        number = expr.const(prod(scope.sums[s].extent for s in inner))
        order = as_read(found.data)
        once = lift(apart, scope, self._summed(scope), order=order)
        if found.centre is None:
            total = expr.add(once, expr.mul(number, start))
        else:
            away = expr.subtract(start, found.centre)
            twice = lift(expr.power(apart, 2), scope, self._summed(scope), order=order)
            total = expr.add(
                twice,
                expr.mul(expr.const(2), away, once),
                expr.mul(number, expr.power(away, 2)),
            )
        kept = [s for s in range(count) if s not in inner]
        rows = list(affine.iterator_rows(first + count))
        for new, old in enumerate(kept, first):
            rows[first + old] = affine.iterator(new)
        body = substitute(expr.mul(found.outside, total), rows)
        return make_scope(scope.loops, [scope.sums[s] for s in kept], body, resolved=True)

    def _mean(self, scope: Scope, data: Node) -> Node:
        """c(s), over the iterators of the scope."""
        first, domain = len(scope.loops), list(scope.domain)
        last = max(self.inner)
        side = domain[first + last]
        if not 1 <= self.terms <= side.extent:
            raise RuleRefused("a provisional mean needs between one and all of the terms")
        rows = list(affine.iterator_rows(len(domain)))
        for s in set(self.inner) - {last}:
            rows[first + s] = affine.constant(scope.sums[s].lo)
        domain[first + last] = Range(side.lo, side.lo + self.terms)
        share = expr.mul(expr.const(Fraction(1, self.terms)), substitute(data, rows))
        return lift(share, scope, 1 << (first + last), ranges=domain, order=as_read(data))

    def parts(self, scope: Scope) -> Parts:
        """RuleRefused where the scope is no such sum."""
        count = len(scope.sums)
        if scope.reducer != "sum" or not self.inner or not {*self.inner} <= {*range(count)}:
            raise RuleRefused("a part needs at least one of the sum's iterators")
        summed = self._summed(scope)
        factors = factors_of(scope.body)
        outside = expr.mul(*(f for f in factors if not f.free & summed))
        inside = [f for f in factors if f.free & summed]
        if not inside:
            raise RuleRefused("no factor has an iterator of the parts")
        (square, *others) = inside
        if others or not isinstance(square, Power) or square.exponent != 2:
            return Parts(outside, expr.mul(*inside), None)
        terms = terms_of(square.base)
        data = expr.add(*(t for t in terms if t.free & summed))
        rest = expr.add(*(t for t in terms if not t.free & summed))
        return Parts(outside, data, expr.mul(expr.const(-1), rest))

    def _summed(self, scope: Scope) -> int:
        """The bit set of the iterators of a part."""
        return sum(1 << (len(scope.loops) + s) for s in set(self.inner))

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        found, summed = self.parts(scope), names.of(scope)[len(scope.loops) :]
        told = [
            ("t", ", ".join(summed[p] for p in sorted(set(self.inner)))),
            ("g(s)", names.term(found.outside, scope)),
            ("f(s,t)", names.term(found.data, scope)),
        ]
        if found.centre is not None:
            told.append(("a(s)", names.term(found.centre, scope)))
        return tuple(told)

    def told(self, scope: Scope, names: Names) -> str:
        """`the terms over t are summed about the mean of the first 4`."""
        summed = names.of(scope)[len(scope.loops) :]
        inner = ", ".join(summed[s] for s in sorted(set(self.inner)))
        return f"the terms over {inner} are summed about the mean of the first {self.terms}"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """Differences of data are squared that the formula does not have."""
        return "cancels"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """False: with an infinite provisional mean, all differences from it are NaN."""
        return False
