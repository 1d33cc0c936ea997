"""Floors and ceilings: what is an integer leaves them, and a sign turns one into the other.

floor(x+n) = floor(x)+n      floor(-x) = -ceil(x)      floor(floor(x)) = floor(x)
"""

from __future__ import annotations

from math import floor as below

from einderive.ta.reals.field import Values
from einderive.ta.reals.functions import not_negative
from einderive.ta.reals.generators import Quotient
from einderive.ta.reals.polynomials import constant, fraction, monomial, number_of, terms

OTHER = {"floor": "ceil", "ceil": "floor"}


def rounded(field: Values, value: Quotient, name: str) -> Quotient:
    """The floor or the ceiling of a value."""
    whole, rest = _parts(field, value)
    if rest.top.is_zero():
        return whole
    number = field.number(rest)
    if number is not None:
        nearest = below(number) if name == "floor" else -below(-number)
        return field.add(whole, field.constant(nearest))
    if fraction(rest.top.leading_coefficient()) < 0:
        field.laws.add("floor-opposite")
        made = field.of(field.find("call", field.negative(rest), key=OTHER[name]))
        return field.subtract(whole, made)
    return field.add(whole, field.of(field.find("call", rest, key=name)))


def truncated(field: Values, value: Quotient) -> Quotient:
    """Without the fraction: the floor of what is not negative, the ceiling of all else."""
    field.laws.add("trunc-cases")
    return rounded(field, value, "floor" if not_negative(field, value) else "ceil")


def _parts(field: Values, value: Quotient) -> tuple[Quotient, Quotient]:
    """An integer and what is left: whole multiples of floors and ceilings, and whole numbers."""
    if number_of(value.bottom) != 1:
        return field.constant(0), value
    whole, rest = constant(0), constant(0)
    for powers, coefficient in terms(value.top):
        kept = below(coefficient) if not powers else coefficient
        integer = coefficient.denominator == 1 and all(
            field.registry[number].kind == "call" and field.registry[number].key in OTHER
            for number, _ in powers
        )
        if not powers or integer:
            whole += monomial(powers) * constant(kept)
            coefficient -= kept
        rest += monomial(powers) * constant(coefficient)
    if not whole.is_zero():
        field.laws.add("floor-whole")
    return Quotient(whole, constant(1)), Quotient(rest, constant(1))
