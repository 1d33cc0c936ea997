"""A sum over a product of differences, multiplied out, and a bound of what is then subtracted.

    f(x)  =  c * S[y] P * d_1^e_1 * ... * d_m^e_m          d = a - b, reads over unequal iterators

    fast   f with each d centred (`facts.centred`) and multiplied out, each term a sum of its own:
           S[k] (a - b)^2  =  {S[k] a'^2} - 2*{S[k] a'*b'} + {S[k] b'^2}
    bound  U with  |c| * sum of |terms|  <=  2^(n-1) * U,     n = e_1 + ... + e_m:
           U  =  |c| * sum_f e_f/n * ({S |P|*|a'_f|^n} + {S |P|*|b'_f|^n})

since a product of powers is at most the weighted mean of the n-th powers, and (|a| + |b|)^n is at
most 2^(n-1) * (|a|^n + |b|^n).  U costs no product of the two sides.  The errors of `fast` are
about eps * 2^(n-1) * U (N. J. Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as cartesian
from math import comb, prod

from einderive.ta.facts.centred import is_centred, less, mean_of, shared_iterators
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import bits
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Const, Mul, Node, Power, Scope
from einderive.ta.ir.subst import rename, terms_of

MOST_TERMS = 16
"""A product that multiplies out to more terms does not pay."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`(s*left - s*right)^exponent` with s = `sign`, for terms whose coefficients are positive."""

    left: Node
    right: Node
    sign: int
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """`coefficient * plain_1 * ... * difference_1^e_1 * ...`: the body of a sum."""

    coefficient: Fraction
    plain: tuple[Node, ...]
    differences: tuple[Difference, ...]

    @property
    def degree(self) -> int:
        return sum(each.exponent for each in self.differences)

    @property
    def not_negative(self) -> bool:
        """Whether every product of the sum is at least 0, or every one at most 0."""
        even = all(each.exponent % 2 == 0 for each in self.differences)
        return even and all(isinstance(f, Power) and f.exponent % 2 == 0 for f in self.plain)

    @property
    def held(self) -> int:
        """The iterators of the differences, as a bit set."""
        found = 0
        for each in self.differences:
            found |= each.left.free | each.right.free
        return found


@dataclass(frozen=True, slots=True)
class Expanded:
    """`fast` is the scope as a sum of sums, `bound` is U over the same loops."""

    fast: Scope
    bound: Scope


def product_of(scope: Scope) -> Product | None:
    """The scope's body as such a product.  None if it has another form."""
    if not scope.sums or scope.reducer != "sum" or scope.empty:
        return None
    body = scope.body
    if isinstance(body, Power):
        factors: tuple[Node, ...] = (body,)
    elif isinstance(body, Mul):
        factors = body.factors
    else:
        return None
    if not [factor for factor in factors if not isinstance(factor, Access | Const)]:
        return None  # at once: most products are of reads
    coefficient, _ = expr.split_coefficient(body)
    plain: list[Node] = []
    differences: list[Difference] = []
    for factor in factors:
        base = factor.base if isinstance(factor, Power) else factor
        exponent = factor.exponent if isinstance(factor, Power) else 1
        if exponent < 0:
            return None
        if isinstance(base, Access):
            plain.append(factor)
        elif isinstance(base, Add):
            difference = _difference(base, exponent)
            if difference is None:
                return None
            differences.append(difference)
        elif base.free:
            return None
    terms = prod(each.exponent + 1 for each in differences)
    if not differences or terms > MOST_TERMS or not isinstance(coefficient, Fraction):
        return None
    return Product(coefficient, tuple(plain), tuple(differences))


def _difference(total: Add, exponent: int) -> Difference | None:
    if len(total.terms) != 2 or any(map(is_centred, total.terms)):
        return None
    (a, left), (b, right) = map(expr.split_coefficient, total.terms)
    reads = isinstance(left, Access) and isinstance(right, Access)
    if not reads or (a > 0) == (b > 0) or left.free == right.free:
        return None
    if not (isinstance(a, Fraction) and isinstance(b, Fraction)):
        return None
    first, second = expr.mul(expr.const(abs(a)), left), expr.mul(expr.const(abs(b)), right)
    return Difference(first, second, 1 if a > 0 else -1, exponent)


def expanded(scope: Scope, factor: Fraction = Fraction(1)) -> Expanded | None:
    """The scope multiplied out, and `factor * U`.  None if it is no such product, or has no mean to
    centre by."""
    found = product_of(scope)
    if found is None:
        return None
    sides = [_centred(scope, each) for each in found.differences]
    centred = [side for side in sides if side is not None]
    if len(centred) < len(sides):
        return None
    return Expanded(_fast(scope, found, centred), _bound(scope, found, centred, factor))


def _centred(scope: Scope, difference: Difference) -> tuple[Node, Node] | None:
    """Both sides less the mean of the smaller one."""
    left, right = difference.left, difference.right
    kept = shared_iterators(expr.split_coefficient(left)[1], expr.split_coefficient(right)[1])
    means = [(_size(side), number) for number, side in enumerate((left, right))]
    for _, number in sorted(means):
        mean = mean_of((left, right)[number], scope.domain, kept)
        if mean is not None:
            a, b = (less(side, mean, scope.domain, kept) for side in (left, right))
            return a, b
    return None


def _size(term: Node) -> int:
    _, core = expr.split_coefficient(term)
    return core.source.size if isinstance(core, Access) else 0


def _fast(scope: Scope, found: Product, sides: Sequence[tuple[Node, Node]]) -> Scope:
    parts: list[Node] = []
    choices = [
        [(power, each, side) for power in range(each.exponent + 1)]
        for each, side in zip(found.differences, sides, strict=True)
    ]
    for choice in cartesian(*choices):
        factors: list[Node] = [expr.const(found.coefficient), *found.plain]
        for power, each, (a, b) in choice:
            rest = each.exponent - power
            sign = (-1) ** power * each.sign**each.exponent
            factors.append(expr.const(sign * comb(each.exponent, power)))
            factors += [expr.power(a, rest), expr.power(b, power)]
        parts.append(expr.mul(*factors))
    total = expr.add(*parts)
    terms = terms_of(total)
    return _sum_of(scope, terms)


def _bound(
    scope: Scope, found: Product, sides: Sequence[tuple[Node, Node]], factor: Fraction
) -> Scope:
    degree = found.degree
    weights = [_size_of(each) for each in found.plain]
    parts: list[Node] = []
    for each, pair in zip(found.differences, sides, strict=True):
        share = factor * abs(found.coefficient) * Fraction(each.exponent, degree)
        for side in pair:
            size = expr.power(side, degree) if degree % 2 == 0 else _absolute(side, degree)
            parts.append(expr.mul(expr.const(share), *weights, size))
    total = expr.add(*parts)
    terms = terms_of(total)
    return _sum_of(scope, terms)


def _size_of(factor: Node) -> Node:
    if isinstance(factor, Power):
        return factor if factor.exponent % 2 == 0 else _absolute(factor.base, factor.exponent)
    return _absolute(factor, 1)


def _absolute(node: Node, exponent: int) -> Node:
    return expr.power(expr.apply("abs", node), exponent)


def _sum_of(scope: Scope, terms: Sequence[Node]) -> Scope:
    """`{sum over the terms of c * {S core}}`, each over the loops that it uses."""
    parts = []
    for term in terms:
        coefficient, core = expr.split_coefficient(term)
        parts.append(expr.mul(expr.const(coefficient), _lifted(scope, core)))
    return make_scope(scope.loops, (), expr.add(*parts))


def _lifted(scope: Scope, core: Node) -> Node:
    """The read of `{S core}`, a scope over the loops that the term uses."""
    first = len(scope.loops)
    loops = [i for i in bits(core.free) if i < first]
    moved = [*loops, *range(first, len(scope.domain))]
    body = rename(core, {old: new for new, old in enumerate(moved)})
    nested = make_scope([scope.domain[i] for i in loops], scope.sums, body)
    return expr.access(nested, [affine.iterator(i) for i in loops])
