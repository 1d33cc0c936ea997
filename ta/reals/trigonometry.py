"""Sines and cosines as polynomials in those of a basis of angles; arcs by the arc sine."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from einderive.ta.reals.case import NoValue, Split, Unit
from einderive.ta.reals.field import Values
from einderive.ta.reals.functions import power, sign
from einderive.ta.reals.generators import Quotient
from einderive.ta.reals.knowledge import NOT_NEGATIVE, sign_of
from einderive.ta.reals.polynomials import TooLarge, fraction, monomial, number_of, terms

MOST_MULTIPLE = 24
"""sin(n*x) is not written out for a greater n."""
HALF = Fraction(1, 2)
KNOWN = {
    Fraction(1, 6): (Fraction(3, 4), Fraction(1, 4)),
    Fraction(1, 4): (HALF, HALF),
    Fraction(1, 3): (Fraction(1, 4), Fraction(3, 4)),
}
"""The squares of cos(c*pi) and sin(c*pi)."""

Turn: TypeAlias = tuple[Quotient, Quotient]
"""cos and sin of an angle."""


def pi(field: Values) -> Quotient:
    return field.of(field.find("call", key="pi"))


def turn(field: Values, angle: Quotient) -> Turn:
    """cos and sin, by those of the sum of angles."""
    result: Turn = (field.constant(1), field.constant(0))
    parts = list(terms(angle.top))
    if len(parts) > 1:
        field.laws.add("angle-sum")
    for powers, coefficient in parts:
        term = field.quotient(monomial(powers), angle.bottom)
        scale = fraction(term.top.leading_coefficient())
        term, coefficient = field.scaled(term, 1 / scale), coefficient * scale
        result = _joined(field, result, _multiple(field, term, coefficient))
    return result


def _multiple(field: Values, term: Quotient, coefficient: Fraction) -> Turn:
    """cos and sin of a multiple of an angle whose coefficient is 1."""
    if field.same(term, pi(field)):
        quarters, rest = divmod(coefficient * 2, 1)
        return _joined(field, _quarters(field, int(quarters)), _part_of_pi(field, rest / 2))
    unit = field.units["turn"]
    times = coefficient * unit
    if times.denominator != 1:
        raise Unit("turn", times)
    base = _base(field, term, unit)
    count = abs(int(times))
    if count > MOST_MULTIPLE:
        raise TooLarge(f"sin of {times} times an angle")
    if count > 1:
        field.laws.add("angle-sum")
    result: Turn = (field.constant(1), field.constant(0))
    for _ in range(count):
        result = _joined(field, result, base)
    return result if times > 0 else (result[0], field.negative(result[1]))


def _base(field: Values, term: Quotient, unit: int) -> Turn:
    powers = next(iter(terms(term.top)))[0]
    if unit == 1 and number_of(term.bottom) == 1 and len(powers) == 1 and powers[0][1] == 1:
        made = field.registry[powers[0][0]]
        if made.kind == "asin":
            field.laws.add("sin-asin")
            sine = field.in_case(made.payload[0])
            square = field.subtract(field.constant(1), field.power(sine, 2))
            return power(field, square, HALF), sine
    cosine = field.find("cos", term, unit=unit)
    sine_number = field.find("sin", term, unit=unit)  # made right after it: relations need that
    return field.of(cosine), field.of(sine_number)


def _joined(field: Values, left: Turn, right: Turn) -> Turn:
    (a, b), (c, d) = left, right
    times = field.multiply
    return (field.subtract(times(a, c), times(b, d)), field.add(times(a, d), times(b, c)))


def _quarters(field: Values, count: int) -> Turn:
    cosine = (1, 0, -1, 0)[count % 4]
    sine = (0, 1, 0, -1)[count % 4]
    return field.constant(cosine), field.constant(sine)


def _part_of_pi(field: Values, part: Fraction) -> Turn:
    """cos and sin of part*pi, for 0 <= part < 1/2."""
    if not part:
        return field.constant(1), field.constant(0)
    if part in KNOWN:
        field.laws.add("angle-values")
        cosine, sine = (power(field, field.constant(value), HALF) for value in KNOWN[part])
        return cosine, sine
    return _base(field, field.scaled(pi(field), part), 1)


def arc_sine(field: Values, value: Quotient) -> Quotient:
    for known, sines in ((0, 0), (HALF, 1)):
        if field.number(value) in (sines, -sines):
            result = field.scaled(pi(field), known)
            return result if field.number(value) == sines else field.negative(result)
    opposite = field.negative(value)
    for number, made in enumerate(field.registry.all):
        if made.kind == "asin" and field.same(field.in_case(made.payload[0]), opposite):
            field.laws.add("asin-odd")
            return field.negative(field.of(number))
    return field.of(field.find("asin", value))


def _within_one(field: Values, value: Quotient) -> None:
    """-1 <= value <= 1 is learned: elsewhere it has no arc sine."""
    if number_of(value.bottom) != 1:
        return
    for bound in (1 - value.top, 1 + value.top):
        number = number_of(bound)
        if number is not None:
            if not sign_of(number) <= NOT_NEGATIVE:
                raise NoValue
        elif not field.known.signs(bound) <= NOT_NEGATIVE:
            raise Split(bound, NOT_NEGATIVE)


def arc_sine_of(field: Values, value: Quotient) -> Quotient:
    """The arc sine of what lies between -1 and 1."""
    _within_one(field, value)
    return arc_sine(field, value)


def arc_cosine(field: Values, value: Quotient) -> Quotient:
    _within_one(field, value)
    field.laws.add("acos-asin")
    return field.subtract(field.scaled(pi(field), HALF), arc_sine(field, value))


def arc_tangent(field: Values, value: Quotient) -> Quotient:
    """atan(x) = asin(x/sqrt(1+x^2))."""
    field.laws.add("atan-asin")
    square = field.add(field.constant(1), field.power(value, 2))
    return arc_sine(field, field.multiply(value, power(field, square, -HALF)))


def angle_of_point(field: Values, y: Quotient, x: Quotient) -> Quotient:
    """atan2(y,x), by the signs of x and y; 0 at the origin, as in NumPy."""
    side = sign(field, x)
    if not side:
        above = sign(field, y)
        if above:
            field.laws.add("atan2-axis")
        return field.scaled(pi(field), HALF * above)
    slope = arc_tangent(field, field.multiply(y, field.power(x, -1)))
    if side > 0:
        field.laws.add("atan2-right")
        return slope
    above = sign(field, y) >= 0  # on the axis, the angle is pi
    field.laws.add("atan2-left" if above else "atan2-below")
    return (field.add if above else field.subtract)(slope, pi(field))
