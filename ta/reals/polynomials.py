"""Polynomials with rational coefficients in generators, of FLINT.

A generator is a number that the prover knows something about: an entry, exp(m), a root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from flint import Ordering, fmpq, fmpq_mpoly_ctx

MOST_GENERATORS = 64
MOST_TERMS = 400
"""A polynomial of more terms is given up."""

CONTEXT = fmpq_mpoly_ctx.get([f"g{i}" for i in range(MOST_GENERATORS)], Ordering.lex)
GENERATORS = CONTEXT.gens()

Polynomial: TypeAlias = Any
"""`flint.fmpq_mpoly`."""
Monomial: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs of a generator's number and an exponent above 0."""


class TooLarge(Exception):
    """The polynomial is too large to be decided."""


def constant(value: Fraction | int) -> Polynomial:
    value = Fraction(value)
    return CONTEXT.constant(fmpq(value.numerator, value.denominator))


def generator(number: int) -> Polynomial:
    return GENERATORS[number]


def fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def terms(polynomial: Polynomial) -> Iterator[tuple[Monomial, Fraction]]:
    for exponents, coefficient in polynomial.terms():
        yield tuple((i, int(e)) for i, e in enumerate(exponents) if e), fraction(coefficient)


def monomial(powers: Monomial) -> Polynomial:
    product = constant(1)
    for number, exponent in powers:
        product *= GENERATORS[number] ** exponent
    return product


def used(polynomial: Polynomial) -> frozenset[int]:
    """The numbers of the generators that occur."""
    return frozenset(i for i, degree in enumerate(polynomial.degrees()) if degree > 0)


def number_of(polynomial: Polynomial) -> Fraction | None:
    """The value of a constant one."""
    if not polynomial.is_constant():
        return None
    return fraction(polynomial.leading_coefficient()) if not polynomial.is_zero() else Fraction(0)


def text(polynomial: Polynomial) -> str:
    """A text that is equal for equal polynomials.  FLINT has no hash of them."""
    return str(polynomial)


def factors(polynomial: Polynomial) -> tuple[Fraction, tuple[tuple[Polynomial, int], ...]]:
    """A number, and irreducible polynomials with a leading coefficient 1 and their exponents."""
    content, found = polynomial.factor()
    number, parts = fraction(content), []
    for part, exponent in found:
        leading = part.leading_coefficient()
        number *= fraction(leading) ** int(exponent)
        parts.append((part / leading, int(exponent)))
    return number, tuple(parts)


def coefficients_of(polynomial: Polynomial, number: int) -> Mapping[int, Polynomial]:
    """The polynomial as one in this generator alone: coefficients by exponent."""
    found: dict[int, dict[tuple[int, ...], Any]] = {}
    for exponents, coefficient in polynomial.terms():
        degree = int(exponents[number])
        rest = (*exponents[:number], 0, *exponents[number + 1 :])
        found.setdefault(degree, {})[rest] = coefficient
    return {degree: CONTEXT.from_dict(part) for degree, part in found.items()}


def with_values(polynomial: Polynomial, values: Mapping[int, Any]) -> tuple[Polynomial, Polynomial]:
    """Numerator and denominator of the polynomial with generators replaced by quotients."""
    top, bottom = polynomial, constant(1)
    for number, value in values.items():
        if top.degrees()[number] <= 0:
            continue
        parts = coefficients_of(top, number)
        most = max(parts)
        top = sum(
            (c * value.top**d * value.bottom ** (most - d) for d, c in parts.items()), constant(0)
        )
        bottom = bottom * value.bottom**most
    return top, bottom
