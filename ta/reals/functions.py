"""Functions of quotients: each law that is applied here is data of `ta.laws`, by its name."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn, TypeAlias

from flint import fmpz

from einderive.ta.reals import knowledge
from einderive.ta.reals import polynomials as poly
from einderive.ta.reals.case import NotDecided, NoValue, Split, Stopped, Unit
from einderive.ta.reals.field import Values
from einderive.ta.reals.generators import Quotient

MOST_BITS = 64
"""The prime factors of longer numbers are not asked for."""

Factor: TypeAlias = tuple[poly.Polynomial, int]


def sign(field: Values, value: Quotient) -> int:
    """-1, 0 or 1, where it is known; else the case is split."""
    found = _signs(field, value)
    if len(found) == 1:
        return min(found)
    _split(field, value, (knowledge.POSITIVE, knowledge.ZERO, knowledge.NEGATIVE))


def not_negative(field: Values, value: Quotient) -> bool:
    """Whether the value is >= 0 or <= 0; else the case is split."""
    found = _signs(field, value)
    if found <= knowledge.NOT_NEGATIVE:
        return True
    if found <= knowledge.NOT_POSITIVE:
        return False
    _split(field, value, (knowledge.NOT_NEGATIVE, knowledge.NOT_POSITIVE))


def _signs(field: Values, value: Quotient) -> knowledge.Signs:
    if field.complex(value):
        raise NotDecided("a sign of a complex number")
    return field.signs(value)


def decide_zero(field: Values, value: Quotient) -> NoReturn:
    """Splits the case by whether the value is 0."""
    _signs(field, value)
    _split(field, value, (knowledge.ZERO, knowledge.NOT_ZERO))


def _split(field: Values, value: Quotient, ways: tuple[knowledge.Signs, ...]) -> NoReturn:
    """Splits the case by the first irreducible factor whose sign is not known."""
    parts = (*poly.factors(value.top)[1], *poly.factors(value.bottom)[1])
    for part, exponent in parts:
        found = field.known.irreducible(part)
        known = any(found <= way for way in ways)
        if known or (exponent % 2 == 0 and len(ways) == 2):
            continue
        split_polynomial(field, part, ways)
    raise NotDecided("signs that are not known")


def split_polynomial(
    field: Values, part: poly.Polynomial, ways: tuple[knowledge.Signs, ...]
) -> NoReturn:
    if any(field.registry[number].free for number in poly.used(part)):
        raise NotDecided("a sign that may differ from term to term of a sum")
    monotone = field.known.difference_of_exponentials(part)
    if monotone is not None:
        field.laws.add("exp-monotone")
        _split(field, Quotient(monotone, poly.constant(1)), ways)
    raise Split(part, *ways)


def absolute(field: Values, value: Quotient) -> Quotient:
    field.laws.add("abs-cases")
    return value if not_negative(field, value) else field.negative(value)


def exp(field: Values, value: Quotient) -> Quotient:
    """exp of each term apart: exp(a+b) = exp(a)*exp(b), exp(c*log(p)) = p^c."""
    result = field.constant(1)
    parts = list(poly.terms(value.top))
    if len(parts) > 1:
        field.laws.add("exp-sum")
    for powers, coefficient in parts:
        lone = powers[0][0] if len(powers) == 1 and powers[0][1] == 1 else None
        made = field.registry[lone] if lone is not None else None
        if made and made.kind == "log" and made.key is None and poly.number_of(value.bottom) == 1:
            field.laws.add("exp-log")
            factor = power(field, field.in_case(made.payload[0]), coefficient)
        else:
            term = field.quotient(poly.monomial(powers), value.bottom)
            factor = field.exponential(field.scaled(term, coefficient))
        result = field.multiply(result, factor)
    return result


def log(field: Values, value: Quotient) -> Quotient:
    """log of each factor apart, where all are positive."""
    content, parts = _parts(value)
    if not content:
        raise NoValue
    parts = _positive(field, content, parts)
    result = field.constant(0)
    if len(parts) + (abs(content) != 1) > 1:
        field.laws.add("log-product")
    for prime, exponent in _primes(abs(content)):
        number = field.find("log", field.constant(prime))
        result = field.add(result, field.scaled(field.of(number), exponent))
    for part, exponent in parts:
        result = field.add(result, field.scaled(_log_of(field, part), exponent))
    return result


def _log_of(field: Values, part: poly.Polynomial) -> Quotient:
    """The logarithm of an irreducible positive polynomial."""
    lone = _lone(field, part)
    if lone is not None:
        made = field.registry[lone]
        if made.kind == "exp":
            field.laws.add("log-exp")
            return field.scaled(field.in_case(made.payload[0]), Fraction(1, made.unit))
        if made.kind == "root":
            field.laws.add("log-power")
            return field.scaled(log(field, made.payload[0]), Fraction(1, made.unit))
        if made.kind == "read":
            raise Stopped(field.case.with_sign(lone, 1))
    return field.of(field.find("log", Quotient(part, poly.constant(1))))


def _positive(field: Values, content: Fraction, parts: list[Factor]) -> list[Factor]:
    """The factors with their signs, so that each is positive; their product is, as it has a
    logarithm."""
    signed, unknown, total = [], [], 1 if content > 0 else -1
    for part, exponent in parts:
        found = field.known.irreducible(part)
        if 0 in found and len(found) > 1:
            raise Split(part, found - knowledge.ZERO)
        if found == knowledge.ZERO:
            raise NoValue
        if len(found) > 1:
            unknown.append((part, exponent))
            continue
        total *= min(found) ** exponent
        signed.append((part if min(found) > 0 else -part, exponent))
    if unknown:
        part, exponent = unknown[0]
        if len(unknown) == 1 and exponent % 2:
            raise Split(part, frozenset({total}))
        split_polynomial(field, part, (knowledge.POSITIVE, knowledge.NEGATIVE))
    if total < 0:
        raise NoValue
    return signed


def power(field: Values, value: Quotient, exponent: Fraction) -> Quotient:
    """p^c for a rational number c, and p >= 0 where c is none of the integers."""
    if exponent.denominator == 1:
        return field.power(value, int(exponent))
    content, parts = _parts(value)
    if not content:
        if exponent < 0:
            raise NoValue
        return field.constant(0)
    content, parts = _trigonometric(field, content, parts)
    total, result = 1 if content > 0 else -1, field.constant(1)
    signed = []
    for part, times in parts:
        found = field.known.irreducible(part)
        whole = times % 2 == 0
        if found == knowledge.ZERO:
            if exponent * times < 0:
                raise NoValue
            return field.constant(0)
        if found <= knowledge.NOT_NEGATIVE or found <= knowledge.NOT_POSITIVE:
            negative = not found <= knowledge.NOT_NEGATIVE
            part = -part if negative else part
            lone = _lone(field, part)
            fractional = (exponent * times).denominator != 1
            read = lone is not None and field.registry[lone].kind == "read" and fractional
            if read and lone is not None and not (0 in found and field.case.roots):
                if 0 in found:
                    field.registry.zero_roots = True
                    split_polynomial(field, part, (knowledge.POSITIVE, knowledge.ZERO))
                raise Stopped(field.case.with_sign(lone, -1 if negative else 1))
            if negative and not whole:
                total = -total
            signed.append((part, times, found))
        elif len(parts) == 1 and not whole:
            raise Split(part, knowledge.NOT_NEGATIVE if total > 0 else knowledge.NOT_POSITIVE)
        elif whole:
            split_polynomial(field, part, (knowledge.NOT_NEGATIVE, knowledge.NOT_POSITIVE))
        else:
            split_polynomial(field, part, (knowledge.POSITIVE, knowledge.ZERO, knowledge.NEGATIVE))
    if total < 0:
        for part, _, found in signed:
            if 0 in found:
                split_polynomial(field, part, (knowledge.ZERO, knowledge.NOT_ZERO))
        raise NoValue
    if len(signed) + (abs(content) != 1) > 1:
        field.laws.add("root-product")
    for prime, times in _primes(abs(content)):
        result = field.multiply(result, _root(field, poly.constant(prime), exponent * times))
    for part, times, _ in signed:
        result = field.multiply(result, _root(field, part, exponent * times))
    return result


def _root(field: Values, part: poly.Polynomial, exponent: Fraction) -> Quotient:
    """part^exponent for an irreducible part >= 0."""
    if exponent.denominator == 1:
        return field.power(field.quotient(part, poly.constant(1)), int(exponent))
    lone = _lone(field, part)
    if lone is not None and field.registry[lone].kind == "exp":
        raise Unit("exp", exponent)
    if lone is not None and field.registry[lone].kind == "root":
        raise Unit("root", exponent / field.units["root"])
    unit = field.units["root"]
    times = exponent * unit
    if times.denominator != 1:
        raise Unit("root", times)
    base = field.of(field.find("root", Quotient(part, poly.constant(1)), unit=unit))
    return field.power(base, int(times))


def _trigonometric(
    field: Values, content: Fraction, parts: list[Factor]
) -> tuple[Fraction, list[Factor]]:
    """(1 - cos)*(1 + cos) as sin^2."""
    found = {poly.text(part): (part, times) for part, times in parts}
    none = (None, 0)
    for number, made in enumerate(field.registry.all):
        if made.kind != "cos":
            continue
        low, high = poly.generator(number) - 1, poly.generator(number) + 1
        both = min(found.get(poly.text(low), none)[1], found.get(poly.text(high), none)[1])
        if both > 0:
            field.laws.add("pythagoras")
            content *= (-1) ** both
            for part in (low, high):
                found[poly.text(part)] = (part, found[poly.text(part)][1] - both)
            sine = poly.generator(number + 1)
            found[poly.text(sine)] = (sine, found.get(poly.text(sine), none)[1] + 2 * both)
    return content, [(part, times) for part, times in found.values() if times]


def _parts(value: Quotient) -> tuple[Fraction, list[Factor]]:
    """A number, and the irreducible factors with their exponents."""
    if value.top.is_zero():
        return Fraction(0), []
    content, above = poly.factors(value.top)
    number, below = poly.factors(value.bottom)
    return content / number, [*above, *((part, -times) for part, times in below)]


def _primes(number: Fraction) -> list[tuple[int, int]]:
    """Prime factors with their exponents; a long number counts as one."""
    found = []
    for side, sign_ in ((number.numerator, 1), (number.denominator, -1)):
        if side.bit_length() > MOST_BITS:
            raise poly.TooLarge("a long number")
        found += [(int(p), sign_ * int(e)) for p, e in fmpz(side).factor() if side > 1]
    return found


def _lone(field: Values, part: poly.Polynomial) -> int | None:
    """The generator that the polynomial is."""
    numbers = poly.used(part)
    if len(numbers) == 1 and len(part) == 1 and part.total_degree() == 1:
        return min(numbers)
    return None
