"""Closed forms of long sums, and powers x^k whose exponents are indices.

    sum[k] k^p,  p up to 3        sum[k] x^k,  sum[k] k*x^k  in the cases x = 1 and x != 1

A position is a generator for each iterator; x^k is one for each base and position.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from einderive.ta.ir.affine import Range
from einderive.ta.reals import functions
from einderive.ta.reals.case import NotDecided
from einderive.ta.reals.field import Values
from einderive.ta.reals.generators import Generator, Quotient
from einderive.ta.reals.polynomials import number_of, terms, used


def is_index(field: Values, value: Quotient) -> bool:
    """Whether the value is a polynomial in indices."""
    whole = number_of(value.bottom) == 1
    return whole and all(field.registry[n].kind == "position" for n in used(value.top))


def indexed(field: Values, base: Quotient, exponent: Quotient) -> Quotient:
    """base^(c + a*k) for indices k as base^c * (base^k)^a; no exponent is negative."""
    if base == field.constant(1):
        return base
    result = field.constant(1)
    for powers, coefficient in terms(exponent.top):
        if coefficient.denominator != 1 or coefficient < 0 or sum(e for _, e in powers) > 1:
            raise NotDecided("a power that may be negative")
        factor = base
        for number, _ in powers:
            made = field.registry[number]
            if not isinstance(made.key, tuple) or made.key[1].lo < 0:
                raise NotDecided("a power that may be negative")
            free = field.free(base) | made.free
            factor = field.of(field.find("power", base, key=number, free=free))
        result = field.multiply(result, field.power(factor, int(coefficient)))
    return result


def closed(field: Values, powers: Mapping[int, int], sums: Mapping[int, Range]) -> Quotient | None:
    """The sum over these iterators of a product of powers of generators, all of which depend on
    them; None if it has no closed form here."""
    result = field.constant(1)
    left = dict(powers)
    for iterator, side in sums.items():
        degree, base = 0, field.constant(1)
        for number, exponent in powers.items():
            made = field.registry[number]
            if made.free != {iterator}:
                continue
            if made.kind == "position":
                degree = exponent
            else:
                factor = _base(field, made)
                if factor is None:
                    return None
                base = field.multiply(base, field.power(factor, exponent))
            del left[number]
        found = _of_one(field, degree, base, side)
        if found is None:
            return None
        result = field.multiply(result, found)
    return None if left else result


def _base(field: Values, made: Generator) -> Quotient | None:
    """x, of a generator that is x^k for an index k."""
    if made.kind == "power":
        return field.in_case(made.payload[0])
    if made.kind != "exp":
        return None
    exponent = field.in_case(made.payload[0])
    for number in used(exponent.top):
        if field.registry[number].kind == "position":
            index = field.of(number)
            slope = field.multiply(exponent, field.power(index, -1))
            if not field.free(slope):
                return functions.exp(field, field.scaled(slope, Fraction(1, made.unit)))
    return None


def _of_one(field: Values, degree: int, base: Quotient, side: Range) -> Quotient | None:
    """The sum of k^degree * base^k."""
    m, n, one = side.lo, side.hi, field.constant(1)
    apart = field.subtract(one, base)
    if field.same(apart, field.constant(0)) or not _nonzero(field, apart):
        if degree:
            field.laws.add("sum-powers")
        return field.constant(_of_powers(degree, n) - _of_powers(degree, m)) if degree < 4 else None
    if degree > 1 or m < 0:
        return None
    low, high = field.power(base, m), field.power(base, n)
    if degree == 0:
        field.laws.add("sum-geometric")
        return field.multiply(field.subtract(low, high), field.power(apart, -1))
    field.laws.add("sum-geometric-index")
    ends = field.subtract(field.scaled(low, m), field.scaled(high, n))
    inner = field.subtract(field.scaled(high, n - 1), field.scaled(low, m - 1))
    whole = field.add(ends, field.multiply(base, inner))
    return field.multiply(whole, field.power(apart, -2))


def _of_powers(degree: int, n: int) -> Fraction:
    """The sum of k^degree for k from 0 to n-1, as a polynomial."""
    forms = (n, n * (n - 1), n * (n - 1) * (2 * n - 1), n**2 * (n - 1) ** 2)
    return Fraction(forms[degree], (1, 2, 6, 4)[degree])


def _nonzero(field: Values, value: Quotient) -> bool:
    """Whether the value is other than 0; if that is not known, the case is split."""
    found = field.signs(value)
    if 0 in found and len(found) > 1:
        functions.decide_zero(field, value)
    return 0 not in found
