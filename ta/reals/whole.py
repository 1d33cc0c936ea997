"""Floors and ceilings: what is an integer leaves them, and a sign turns one into the other.

floor(x+n) = floor(x)+n      floor(-x) = -ceil(x)      floor(floor(x)) = floor(x)
floor((floor(x)+m)/n) = floor((x+m)/n), and the same of ceil, for whole numbers m and n > 0:
    k <= (floor(x)+m)/n  <=>  k*n - m <= floor(x)  <=>  k*n - m <= x  <=>  k <= (x+m)/n

max(floor(x),floor(y)) = floor(max(x,y)), and the same of min and ceil:
    if x >= y, then floor(y) <= y <= x, and floor(y) is whole, so floor(y) <= floor(x)

erfinv(-x) = -erfinv(x):   erf is odd and increases, so erf(-erfinv(x)) = -x
round(-x) = -round(x):     n is as far from x as -n is from -x, and even if -n is
"""

from __future__ import annotations

from fractions import Fraction
from math import floor as below

from einderive.ta.reals.field import Values
from einderive.ta.reals.functions import not_negative
from einderive.ta.reals.generators import Quotient
from einderive.ta.reals.polynomials import constant, fraction, monomial, number_of, terms

ODD = {
    "erf": "erf-odd",
    "erfinv": "erfinv-odd",
    "asinh": "asinh-odd",
    "round": "round-odd",
}
"""Odd functions, and the laws that say so: the operand is taken with the sign that its first term
tells."""
OTHER = {"floor": "ceil", "ceil": "floor"}
STATED = {
    "floor-divided": "floor((floor(x)+m)/n) = floor((x+m)/n)",
    "floor-monotone": "max(floor(x),floor(y)) = floor(max(x,y))",
    "erfinv-odd": "erfinv(-x) = -erfinv(x)",
    "round-odd": "round(-x) = -round(x)",
}
"""Laws of proofs alone, which no search has."""


def rounded(field: Values, value: Quotient, name: str) -> Quotient:
    """The floor or the ceiling of a value."""
    whole, rest = _parts(field, value)
    if rest.top.is_zero():
        return whole
    number = field.number(rest)
    if number is not None:
        nearest = below(number) if name == "floor" else -below(-number)
        return field.add(whole, field.constant(nearest))
    once = _rounded_once(field, rest, name)
    if once is not None:
        field.laws.add("floor-divided")
        return field.add(whole, rounded(field, once, name))
    if is_negated(rest):
        field.laws.add("floor-opposite")
        opposite = field.negative(rest)
        if _rounded_once(field, opposite, OTHER[name]) is not None:
            return field.subtract(whole, rounded(field, opposite, OTHER[name]))
        made = field.of(field.find("call", opposite, key=OTHER[name]))
        return field.subtract(whole, made)
    return field.add(whole, field.of(field.find("call", rest, key=name)))


def _rounded_once(field: Values, value: Quotient, name: str) -> Quotient | None:
    """(x+m)/n, where the value is (floor(x)+m)/n."""
    numbers = [c for powers, c in terms(value.top) if not powers]
    others = [(powers, c) for powers, c in terms(value.top) if powers]
    if number_of(value.bottom) != 1 or len(others) != 1:
        return None
    ((powers, part),), added = others, sum(numbers, Fraction(0))
    made = field.registry[powers[0][0]]
    if len(powers) != 1 or powers[0][1] != 1 or (made.kind, made.key) != ("call", name):
        return None
    if part.numerator != 1 or (added / part).denominator != 1:
        return None
    inside = field.scaled(field.in_case(made.payload[0]), part)
    return field.add(inside, field.constant(added))


def of_one_sign(field: Values, value: Quotient) -> Quotient | None:
    """x - y + m of floor(x) - floor(y) + m, also without x or without y, and of ceilings: where the
    one is not negative the other is not, and where the one is not positive the other is not."""
    if number_of(value.bottom) != 1:
        return None
    found, names = field.constant(0), set[str]()
    signs: list[Fraction] = []
    for powers, coefficient in terms(value.top):
        if not powers:
            if coefficient.denominator != 1:
                return None
            found = field.add(found, field.constant(coefficient))
            continue
        made = field.registry[powers[0][0]]
        if len(powers) != 1 or powers[0][1] != 1 or made.kind != "call" or made.key not in OTHER:
            return None
        signs.append(coefficient)
        names.add(made.key)
        inside = field.in_case(made.payload[0])
        found = field.add(found, field.scaled(inside, coefficient))
    if sorted(signs) not in ([-1], [1], [-1, 1]) or len(names) != 1:
        return None
    field.laws.add("floor-monotone")
    return found


def truncated(field: Values, value: Quotient) -> Quotient:
    """Without the fraction: the floor of what is not negative, the ceiling of all else."""
    field.laws.add("trunc-cases")
    return rounded(field, value, "floor" if not_negative(field, value) else "ceil")


def is_negated(value: Quotient) -> bool:
    """Whether the first term has a negative coefficient; of the opposite value, it has none."""
    return not value.top.is_zero() and fraction(value.top.leading_coefficient()) < 0


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
