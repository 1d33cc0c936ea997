"""The number of random signs on which an output depends, and how likely a draw shows a difference.

    share of the draws that show a difference  >=  2^-k * (1 - SPREAD)
    N draws miss it with a chance of at most (1 - share)^N

Signs are those of `signs`.  A *question* asks for the sign of one rational function at one point of
an iteration space.  k is the lesser of two bounds.

**By questions.**  k = T, the number of questions that one position of both outputs depends on.
Answer them in the order in which they are asked.  If the factors of a question are products of
factors of earlier questions, the earlier answers settle it.  Otherwise its answer is practically
independent of them, and is either sign half of the time.  So every consistent branch has a share of
at least 2^-T, whatever its factors and constants are.  The branch of the reals is consistent.

**By products.**  k = K, the largest number of irreducible factors whose signs are multiplied in one
term.  Suppose that no sign is asked for inside of a function, a quotient, a max or another sign.
Then the difference of both sides is a polynomial in independent signs, of degree K in them, and
linear in each.  If it is not 0, it is not 0 for a share of at least 2^-K of the signs (Schwartz's
lemma on {1,-1}^n).  A polynomial of degree d has at most d factors that are not constants.  The
constant in front of them needs a known sign, since otherwise each of its primes would be one more
factor.  So K is used only if the content of all questions has no prime above 13.  This holds if the
content is a product of numbers without such primes and of tensors with such numbers only, by
Gauss's lemma, or if the absolute values of all coefficients together are below 17.

**Practically independent.**  Take polynomials of which no product is a square times a constant.
The mean of a product of their symbols is at most d/sqrt(p), with d the degree of that product
(Weil). So a branch of T questions of degree at most d has a share of at least 2^-T - T*d/sqrt(p).
Signs are not used if that error is more than `SPREAD` of the share.  Two assumptions remain:
distinct primes have independent symbols modulo distinct random p, and the values of functions are
random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.node import Access, Apply, Const, Mul, Node, Number, Power, Scope, Select
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import children, every_term, fold, stages, walk

SPREAD: Final = 1 / 8
ROOT: Final = 44_000
"""This is below the square roots of all primes that are drawn."""
KNOWN: Final = (2, 3, 5, 7, 11, 13)
LEAST_UNKNOWN: Final = 17
MANY: Final = 1 << 10
"""Counting of signs stops here."""
MOST_NORM: Final = 1 << 40
"""Adding up of coefficients stops here."""


class Asked(NamedTuple):
    """`signs`: the bound k.  `degree`: of what is asked, at most, in entries and functions."""

    signs: int
    degree: int

    @property
    def share(self) -> float:
        """A lower bound on the share of draws that show a difference."""
        return 2.0**-self.signs * (1 - SPREAD) if self.signs else 1.0

    @property
    def independent(self) -> bool:
        """Whether the error of treating the signs as independent is small."""
        return bool(self.signs * self.degree * 2**self.signs <= SPREAD * ROOT)


def asked(left: Sequence[Scope], right: Sequence[Scope], *, exp_sum: bool = False) -> Asked:
    """The bound for each pair of outputs, and the worst of these."""
    bounds = _Bounds(exp_sum)
    for stage in stages(*left, *right):  # producers first, so that a long chain is no recursion
        bounds.add(stage)
    worst = Asked(0, 0)
    for x, y in zip(left, right, strict=True):
        sides = [bounds.known[x], bounds.known[y]]
        count = sum(side.questions for side in sides)
        factors = [side.products for side in sides]
        known = [k for k in factors if k is not None]
        signs = min(count, max(known)) if len(known) == len(factors) else count
        degree = max(bounds.greatest(x), bounds.greatest(y))
        worst = Asked(min(MANY, max(worst.signs, signs)), max(worst.degree, degree))
    return worst


def compares(node: Node) -> bool:
    return isinstance(node, Apply) and FUNCTIONS[node.function].compares


@dataclass
class _Bounds:
    """The bounds of scopes, each computed once, and after those of the scopes that it reads."""

    exp_sum: bool
    known: dict[Scope, _Bound] = field(default_factory=dict)

    def add(self, scope: Scope) -> None:
        points = math.prod(r.extent for r in scope.sums)
        times = points if scope.reducer == "prod" else 1
        order = bool(REDUCERS[scope.reducer].order)
        count = points * self._questions(scope.body)
        body = fold(scope.body, self._of)
        products = body.products if not order else None if count else 0
        norm, settled = body.norm, body.settled
        if scope.sums:
            norm = _multiplied([Norm(points, 1), norm]) if scope.reducer == "sum" else NO_NORM
            settled = settled if scope.reducer == "prod" else _small(norm)
        self.known[scope] = _Bound(
            count,
            None if products is None else times * products,
            max(times * body.degree, int(order)),
            norm,
            settled,
        )

    def _questions(self, node: Node) -> int:
        """What is asked, each question once."""
        found = 0
        for part in walk(node):
            found += compares(part)
            if isinstance(part, Access) and isinstance(part.source, Scope):
                found += self.known[part.source].questions
        return found

    def _of(self, node: Node, parts: tuple[_Bound, ...]) -> _Bound:
        """The bounds of a term from those of its operands; a question that several of them ask may
        be counted several times."""
        asked = sum(part.questions for part in parts)
        products = [part.products for part in parts]
        most = None if None in products else max((k for k in products if k is not None), default=0)
        degree = max((part.degree for part in parts), default=0)
        norms = [part.norm for part in parts]
        settled = all(part.settled for part in parts)
        match node:
            case Const():
                return _Bound(0, 0, 0, _number(node.value), _smooth(node.value))
            case Access(source=Scope() as source):
                known = self.known[source]
                norm = _either([known.norm, _number(node.fill)])
                return known._replace(norm=norm, settled=known.settled and _smooth(node.fill))
            case Access() if is_position(node):
                return _Bound(0, 0, 1, NO_NORM, False)  # a number that may have any primes
            case Access():
                norm = _either([Norm(1, 1), _number(node.fill)])
                return _Bound(0, 0, 1, norm, _smooth(node.fill))
            case Apply() if compares(node):
                factors = None if asked else _factors(parts)
                return _Bound(asked + 1, factors, max(1, degree), NO_NORM, False)
            case Apply():
                norm = NO_NORM if self.exp_sum and node.function == "exp" else Norm(1, 1)
                return _Bound(asked, None if asked else 0, 1, norm, _small(norm))
            case Power(exponent=exponent):
                degree *= abs(exponent)
                if exponent < 0:
                    return _Bound(asked, None if asked else 0, degree, NO_NORM, settled)
                most = None if most is None else exponent * most
                norm = _multiplied(norms * min(exponent, 64))
                return _Bound(asked, most, degree, norm, settled)
            case Mul():
                total = None if None in products else sum(k for k in products if k is not None)
                degree = sum(part.degree for part in parts)
                return _Bound(asked, total, degree, _multiplied(norms), settled)
            case Select():
                return _Bound(asked, most, degree, _either(norms), settled)
        if any(isinstance(part, Power) for part in walk(node)):
            degree = sum(part.degree for part in parts)  # over a common denominator
        norm = _added(norms)
        return _Bound(asked, most, degree, norm, _small(norm))

    def greatest(self, scope: Scope) -> int:
        """The greatest degree of what is asked, by the scope and what it reads."""
        compared = filter(compares, every_term(scope))
        degrees = (fold(child, self._of).degree for node in compared for child in children(node))
        return max(degrees, default=0)


def _factors(args: Sequence[_Bound]) -> int | None:
    """The most factors of what is asked, where the constant in front has a known sign: of the one
    operand, or of the difference of both."""
    known = args[0].settled if len(args) == 1 else _small(_added([arg.norm for arg in args]))
    return max(arg.degree for arg in args) if known else None


class _Bound(NamedTuple):
    """The bounds for one position of a scope: T; K, if it applies; the degree; the norm of the
    coefficients; and whether the content has a known sign."""

    questions: int
    products: int | None
    degree: int
    norm: Norm
    settled: bool


class Norm(NamedTuple):
    """The sum of the absolute values of integer coefficients, over a common denominator.  A
    denominator of 0 means that the sum is not known."""

    size: int
    below: int


NO_NORM: Final = Norm(0, 0)


def _number(value: Number) -> Norm:
    if isinstance(value, float):
        return NO_NORM
    return Norm(abs(value.numerator), value.denominator)


def _multiplied(norms: Sequence[Norm]) -> Norm:
    return _limited(math.prod(n.size for n in norms), math.prod(n.below for n in norms))


def _added(norms: Sequence[Norm], combine: Callable[[Iterable[int]], int] = sum) -> Norm:
    if any(not n.below for n in norms):
        return NO_NORM
    below = math.lcm(*(n.below for n in norms))
    return _limited(combine(n.size * (below // n.below) for n in norms), below)


def _either(norms: Sequence[Norm]) -> Norm:
    return _added(norms, max)


def _limited(size: int, below: int) -> Norm:
    return Norm(size, below) if max(size, below) < MOST_NORM else NO_NORM


def _small(norm: Norm) -> bool:
    return norm.below > 0 and norm.size < LEAST_UNKNOWN and _smooth(Fraction(1, norm.below))


def _smooth(value: Number) -> bool:
    """Whether the number is 0, or made of the primes whose signs are known."""
    if isinstance(value, float):
        return False
    rest = abs(value.numerator) * value.denominator
    for prime in KNOWN:
        while rest and rest % prime == 0:
            rest //= prime
    return rest <= 1


def opaque_functions(*roots: Scope) -> tuple[str, ...]:
    """The functions that have no values over the rationals, sorted by name."""
    found = {
        node.function
        for node in every_term(*roots)
        if isinstance(node, Apply) and FUNCTIONS[node.function].pieces is None
    }
    return tuple(sorted(found))
