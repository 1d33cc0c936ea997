"""The known signs of polynomials, all of which are inferred here.

    exp(m) > 0,   root >= 0,   |sin| <= 1,   p^2 >= 0      by their form
    x > 0                                                 stated, or since log(x) has a value
    a >= b and b >= c   =>   a >= c                       linear inequalities in monomials
    exp(m) > exp(n)   <=>   m > n

A set of signs holds each sign that the polynomial may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TypeAlias

from einderive.ta.reals import polynomials as poly
from einderive.ta.reals.generators import Registry
from einderive.ta.reals.linear import ONE, Inequality, Variable, solvable

Signs: TypeAlias = frozenset[int]
Fact: TypeAlias = tuple[poly.Polynomial, Signs]

POSITIVE, ZERO, NEGATIVE = frozenset({1}), frozenset({0}), frozenset({-1})
EVERY = POSITIVE | ZERO | NEGATIVE
NOT_NEGATIVE, NOT_POSITIVE = POSITIVE | ZERO, NEGATIVE | ZERO
NOT_ZERO = POSITIVE | NEGATIVE
MOST_FACTS = 24


def sign_of(value: Fraction | int) -> Signs:
    return frozenset({(value > 0) - (value < 0)})


def multiplied(left: Signs, right: Signs) -> Signs:
    return frozenset(a * b for a, b in product(left, right))


def powered(signs: Signs, exponent: int) -> Signs:
    return frozenset(s**exponent for s in signs) if exponent > 0 else signs


class Knowledge:
    """The facts of one case."""

    def __init__(self, registry: Registry, facts: Sequence[Fact]) -> None:
        self.registry, self.facts = registry, tuple(facts)
        self.done: dict[str, Signs] = {}
        self.of_monomials: dict[poly.Monomial, tuple[Inequality, ...]] = {}

    def signs(self, polynomial: poly.Polynomial) -> Signs:
        """All signs that the polynomial may have, as far as is known."""
        number = poly.number_of(polynomial)
        if number is not None:
            return sign_of(number)
        content, parts = poly.factors(polynomial)
        found = sign_of(content)
        for part, exponent in parts:
            found = multiplied(found, powered(self.irreducible(part), exponent))
        return found

    def consistent(self) -> bool:
        """Whether the facts may hold together."""
        return solvable(self._inequalities(()))

    def irreducible(self, part: poly.Polynomial) -> Signs:
        """All signs that an irreducible polynomial may have, as far as is known."""
        name = poly.text(part)
        found = self.done.get(name)
        if found is None:
            found = self.done[name] = self._found(part)
        return found

    def _found(self, part: poly.Polynomial) -> Signs:
        found = self._generator(part)
        if found is not None:
            return found
        found = EVERY
        for fact, signs in self.facts:
            if fact == part:
                found &= signs
        monotone = self.difference_of_exponentials(part)
        if monotone is not None:
            return found & self.signs(monotone)
        if len(found) > 1:
            found = frozenset(s for s in found if self._possible(part, s))
        if len(found) > 1 and _not_negative(part):
            found &= NOT_NEGATIVE
        if len(found) > 1 and _not_negative(-part):
            found &= NOT_POSITIVE
        return found

    def _generator(self, part: poly.Polynomial) -> Signs | None:
        """The signs of a single generator, by its kind."""
        numbers = poly.used(part)
        if len(numbers) != 1 or part.total_degree() != 1 or len(part) != 1:
            return None
        made = self.registry[min(numbers)]
        if made.kind == "exp":
            return POSITIVE
        if made.kind == "root":
            return self.signs(made.payload[0].top) & NOT_NEGATIVE
        if made.key == "pi":
            return POSITIVE
        return None

    def difference_of_exponentials(self, part: poly.Polynomial) -> poly.Polynomial | None:
        """m - n of a number times exp(m) - exp(n), which has its sign."""
        both = list(poly.terms(part))
        if len(both) != 2 or both[0][1] + both[1][1] != 0:
            return None
        total = poly.constant(0)
        for powers, coefficient in both:
            for number, exponent in powers:
                made = self.registry[number]
                if made.kind != "exp":
                    return None
                (payload,) = made.payload
                if poly.number_of(payload.bottom) != 1:
                    return None
                scale = Fraction(exponent, made.unit) * (1 if coefficient > 0 else -1)
                total += payload.top * poly.constant(scale)
        return total

    def _possible(self, part: poly.Polynomial, sign: int) -> bool:
        return solvable(self._inequalities(((part, frozenset({sign})),)))

    def _inequalities(self, more: Sequence[Fact]) -> Iterator[Inequality]:
        variables, rows = self._rows
        own, others = _rows_of(more)
        yield from rows
        yield from others
        for variable in sorted(variables | own, key=str):
            found = self.of_monomials.get(variable)
            if found is None:
                found = self.of_monomials[variable] = tuple(self._of_monomial(variable))
            yield from found

    @cached_property
    def _rows(self) -> tuple[frozenset[poly.Monomial], tuple[Inequality, ...]]:
        """The facts' own inequalities, which every question asks."""
        return _rows_of(self.facts[:MOST_FACTS])

    def _of_monomial(self, powers: poly.Monomial) -> Iterator[Inequality]:
        """The signs of a product of powers, by its form."""
        signs = POSITIVE
        for number, exponent in powers:
            signs = multiplied(signs, powered(self._simple(number), exponent))
        if -1 not in signs:
            yield Inequality({powers: Fraction(1)}, 0 not in signs)
        if all(self.registry[number].kind in ("sin", "cos") for number, _ in powers):
            yield Inequality({powers: Fraction(1), ONE: Fraction(1)}, False)
            yield Inequality({powers: Fraction(-1), ONE: Fraction(1)}, False)

    def _simple(self, number: int) -> Signs:
        """The signs of a generator, by its kind and by statements about it alone."""
        made = self.registry[number]
        if made.kind == "exp" or made.key == "pi":
            return POSITIVE
        found = NOT_NEGATIVE if made.kind == "root" else EVERY
        for fact, signs in self.facts:
            if poly.used(fact) == {number} and fact.total_degree() == 1 and len(fact) == 1:
                found &= signs
        return found


def _rows_of(facts: Sequence[Fact]) -> tuple[frozenset[poly.Monomial], tuple[Inequality, ...]]:
    """The monomials of the facts, and what the facts say as inequalities."""
    seen: set[poly.Monomial] = set()
    found: list[Inequality] = []
    for polynomial, signs in facts:
        if signs == NOT_ZERO:
            continue
        row: dict[Variable, Fraction] = {}
        for powers, coefficient in poly.terms(polynomial):
            row[powers or ONE] = coefficient
            seen |= {powers} if powers else set()
        if -1 not in signs:
            found.append(Inequality(row, 0 not in signs))
        if 1 not in signs:
            found.append(Inequality({v: -c for v, c in row.items()}, 0 not in signs))
    return frozenset(seen), tuple(found)


def _not_negative(part: poly.Polynomial) -> bool:
    """Whether a polynomial of degree 2 is a sum of squares: its matrix in (1, g, h, ...) is
    positive semidefinite, which elimination shows."""
    if part.total_degree() > 2:
        return False
    names: list[int | None] = [None, *sorted(poly.used(part))]
    place = {name: i for i, name in enumerate(names)}
    rows = [[Fraction(0)] * len(names) for _ in names]
    for powers, coefficient in poly.terms(part):
        both: list[int | None] = [number for number, e in powers for _ in range(e)]
        i, j = (place[name] for name in ([*both, None, None])[:2])
        rows[i][j] += coefficient / 2
        rows[j][i] += coefficient / 2
    while rows:
        if rows[0][0] < 0 or (rows[0][0] == 0 and any(rows[0])):
            return False
        first, *rest = rows
        rows = [
            [c - row[0] * f / (first[0] or 1) for c, f in zip(row[1:], first[1:], strict=True)]
            for row in rest
        ]
    return True
