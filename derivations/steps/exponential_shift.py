"""Exponentials about their maximum.

    S[t] g(s,t)*exp(f(s,t))  =  exp(m(s)) * S[t] g(s,t)*exp(f(s,t) - m(s)),  m(s) = max[t] f(s,t)

    exp(a)/(S[t] exp(f))      =   exp(a - m)/(S[t] exp(f - m))
    (S[t] g*exp(f))/(S[t] exp(f))  =  (S[t] g*exp(f - m))/(S[t] exp(f - m))

It holds for any m.  With the maximum no exponential exceeds 1 and the largest is 1, so that the sum
neither overflows nor vanishes.  In a quotient exp(m) is left out on both sides.

Source: the usual way to compute softmax and log-sum-exp (P. Blanchard, D. J. Higham, N. J. Higham,
Accurately computing the log-sum-exp and softmax functions, IMA J. Numer. Anal. 41, 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.steps.exponential import exponents_of
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import sub_term
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Mul, Node, Scope, Source
from einderive.ta.ir.subst import factors_of, rename, replace_node, stages, substitute, walk


class Sum(NamedTuple):
    """`S[t] g*exp(f)`, and the loops that f depends on, among those of the scope."""

    scope: Scope
    exponent: Node
    rest: Node
    loops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExponentialShift(Witness):
    """Takes the largest exponential out of sums of them.

    - `terms`: the positions in `walk(body)` of the reads of the sums.
    """

    terms: tuple[int, ...]
    allows_empty = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope that reads the sums about their maxima."""
        reads = self.reads(scope)
        every = [part for stage in stages(scope) for part in walk(stage.body)]
        if any(map(may_be_infinite, every)):
            # exp(f - m) has no value where both are infinite
            raise RuleRefused("an infinite number takes part")
        body = scope.body
        for read, total in reads.items():
            if may_be_complex(total.exponent):
                raise RuleRefused("complex numbers have no maximum")
            if not affine.within(read.rows, read.source.ranges, scope.domain):
                raise RuleRefused("the sum is read outside of its ranges")
            for product in [node for node in walk(body) if isinstance(node, Mul)]:
                again = quotient(product, read, scope.domain)
                body = body if again is None else replace_node(body, product, again)
            greatest = expr.access(_greatest(total), [read.rows[i] for i in total.loops])
            about = _about(total, greatest.source, _iterators(total.loops))
            shifted = expr.mul(expr.apply("exp", greatest), expr.access(about, read.rows))
            body = replace_node(body, read, shifted)
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def reads(self, scope: Scope) -> dict[Access, Sum]:
        """The reads, and the sums that they read.  RuleRefused where one is no sum of
        exponentials."""
        found: dict[Access, Sum] = {}
        for term in self.terms:
            read = sub_term(scope, term)
            total = sum_of(read)
            if not isinstance(read, Access) or total is None:
                raise RuleRefused("the sub-term reads no sum of exponentials")
            found[read] = total
        return found

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        told: list[tuple[str, str]] = []
        for total in self.reads(scope).values():
            told.append(("f(s,t)", names.term(total.exponent, total.scope)))
            told.append(("g(s,t)", names.term(total.rest, total.scope)))
        return tuple(told)

    def told(self, scope: Scope, names: Names) -> str:
        """`the exponentials of X[i,k] are taken about their maximum`."""
        totals = self.reads(scope).values()
        exponents = ", ".join(names.term(total.exponent, total.scope) for total in totals)
        return f"the exponentials of {exponents} are taken about their maximum"

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """By x = f - m, a relative error eps*|x| of exp(x), which is at most eps/e of the largest
        one.  A sum f may be opened, as in (a - m) - b for a - b."""
        opened = (isinstance(total.exponent, Add) for total in self.reads(before).values())
        return "cancels" if any(opened) else stated

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """False: exp(1000)/exp(1000) is NaN before and 1 after."""
        return False


def sum_of(read: Node) -> Sum | None:
    """The sum of products with an exp that is read, of which the exponent changes in the sum."""
    source = read.source if isinstance(read, Access) else None
    if not isinstance(source, Scope) or source.reducer != "sum" or not source.sums:
        return None
    if any(side.extent == 0 for side in source.domain):
        return None
    factors = factors_of(source.body)
    exponents = [exponent for factor in factors for exponent in exponents_of(factor)]
    found = expr.add(*exponents)
    first = len(source.loops)
    if not exponents or not found.free >> first:
        return None
    rest = expr.mul(*(factor for factor in factors if not exponents_of(factor)))
    return Sum(source, found, rest, tuple(i for i in affine.bits(found.free) if i < first))


def quotient(product: Mul, read: Node, domain: Sequence[Range]) -> Node | None:
    """The product over the domain in which an exponential, or another sum of the same ones, is
    divided by the sum that is read, all about its maximum; None where there is no such one."""
    total, divisor = sum_of(read), expr.power(read, -1)
    if total is None or not isinstance(read, Access) or divisor not in product.factors:
        return None
    greatest = _greatest(total)
    rows = [read.rows[i] for i in total.loops]
    about = expr.access(_about(total, greatest, _iterators(total.loops)), read.rows)
    for factor in product.factors:
        above: Node | None = None
        for exponent in exponents_of(factor):
            above = expr.apply("exp", expr.subtract(exponent, expr.access(greatest, rows)))
        if isinstance(factor, Access) and (other := sum_of(factor)) is not None:
            inside = affine.within(factor.rows, factor.source.ranges, domain)
            above = _same(factor, other, rows, total, greatest) if inside else None
        if above is not None:
            rest = (one for one in product.factors if one not in (factor, divisor))
            return expr.mul(above, expr.power(about, -1), *rest)
    return None


def _same(
    factor: Access, other: Sum, rows: Sequence[Row], total: Sum, greatest: Scope
) -> Node | None:
    """The other sum about the maximum, which is read at these rows; None where it sums other
    exponentials."""
    places = [factor.rows.index(row) if row in factor.rows else -1 for row in rows]
    if -1 in places:
        return None
    at = dict(zip(total.loops, _iterators(places), strict=True))
    left = list(range(len(other.scope.loops), len(other.scope.domain)))
    for i in affine.bits(total.exponent.free):
        if i not in at:
            fitting = [k for k in left if other.scope.domain[k] == total.scope.domain[i]]
            if not fitting:
                return None
            at[i] = affine.iterator(fitting[0])
            left.remove(fitting[0])
    if substitute(total.exponent, at) is not other.exponent:
        return None
    return expr.access(_about(other, greatest, _iterators(places)), factor.rows)


def _greatest(total: Sum) -> Scope:
    """m, over the iterators that f depends on."""
    used = affine.bits(total.exponent.free)
    loops, sums = used[: len(total.loops)], used[len(total.loops) :]
    exponent = rename(total.exponent, {old: new for new, old in enumerate(used)})
    domain = total.scope.domain
    return make_scope([domain[i] for i in loops], [domain[i] for i in sums], exponent, "max")


def _about(total: Sum, greatest: Source, rows: Sequence[Row]) -> Scope:
    """`S[t] g*exp(f - m)`, m read at these rows."""
    apart = expr.subtract(total.exponent, expr.access(greatest, rows))
    body = expr.mul(expr.apply("exp", apart), total.rest)
    return make_scope(total.scope.loops, total.scope.sums, body)


def _iterators(places: Sequence[int]) -> tuple[Row, ...]:
    return tuple(map(affine.iterator, places))
