"""Functions of complex numbers: exp(a + 1j*b) = exp(a)*(cos(b) + 1j*sin(b)), and those that follow.

A sine is one of a real or complex number b without an imaginary part that shows; all laws that are
used hold for complex numbers as well.
"""

from __future__ import annotations

from fractions import Fraction

from einderive.ta.reals import functions
from einderive.ta.reals.case import NotDecided
from einderive.ta.reals.field import Values
from einderive.ta.reals.generators import Quotient
from einderive.ta.reals.polynomials import coefficients_of, constant, generator, used
from einderive.ta.reals.trigonometry import turn


def unit(field: Values) -> Quotient:
    return field.of(field.find("imaginary"))


def parts(field: Values, value: Quotient) -> tuple[Quotient, Quotient]:
    """a and b with value = a + 1j*b."""
    number = field.find("imaginary")
    if number in used(value.bottom):  # u/(c + 1j*d) = u*(c - 1j*d)/(c^2 + d^2)
        below = coefficients_of(value.bottom, number)
        c, d = (below.get(degree, constant(0)) for degree in (0, 1))
        above = value.top * (c - generator(number) * d)
        value = field.quotient(above, c * c + d * d)
    if number in used(value.bottom):
        raise NotDecided("a complex divisor")
    found = coefficients_of(value.top, number)
    real, imaginary = (found.get(degree, constant(0)) for degree in (0, 1))
    return field.quotient(real, value.bottom), field.quotient(imaginary, value.bottom)


def exp(field: Values, value: Quotient) -> Quotient:
    real, imaginary = parts(field, value)
    result = functions.exp(field, real)
    if imaginary.top.is_zero():
        return result
    field.laws.add("euler")
    cosine, sine = turn(field, imaginary)
    return field.multiply(result, field.add(cosine, field.multiply(unit(field), sine)))


def cos(field: Values, value: Quotient) -> Quotient:
    """(exp(1j*z) + exp(-1j*z))/2."""
    if parts(field, value)[1].top.is_zero():
        return turn(field, value)[0]
    return field.scaled(field.add(*_exponentials(field, value)), Fraction(1, 2))


def sin(field: Values, value: Quotient) -> Quotient:
    """(exp(1j*z) - exp(-1j*z))/2j."""
    if parts(field, value)[1].top.is_zero():
        return turn(field, value)[1]
    apart = field.subtract(*_exponentials(field, value))
    return field.scaled(field.multiply(apart, unit(field)), Fraction(-1, 2))


def _exponentials(field: Values, value: Quotient) -> tuple[Quotient, Quotient]:
    """exp(1j*z) and exp(-1j*z)."""
    field.laws.add("euler")
    turned = field.multiply(unit(field), value)
    return exp(field, turned), exp(field, field.negative(turned))


def real(field: Values, value: Quotient) -> Quotient:
    return _known_parts(field, value)[0]


def imag(field: Values, value: Quotient) -> Quotient:
    return _known_parts(field, value)[1]


def conj(field: Values, value: Quotient) -> Quotient:
    """a - 1j*b."""
    own, other = _known_parts(field, value)
    return field.subtract(own, field.multiply(unit(field), other))


def absolute(field: Values, value: Quotient) -> Quotient:
    """sqrt(a^2 + b^2)."""
    own, other = _known_parts(field, value)
    squares = field.add(field.power(own, 2), field.power(other, 2))
    return functions.power(field, squares, Fraction(1, 2))


def _known_parts(field: Values, value: Quotient) -> tuple[Quotient, Quotient]:
    """Both parts, which have to be real numbers."""
    found = parts(field, value)
    if any(map(field.complex, found)):
        raise NotDecided("a part of what may be complex in more than one way")
    return found
