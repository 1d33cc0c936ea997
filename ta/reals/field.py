"""The field of values in one case: rational functions of the generators, modulo their relations."""

from __future__ import annotations

from fractions import Fraction

from einderive.ta.reals import polynomials as poly
from einderive.ta.reals.case import Case, NoValue, Unit
from einderive.ta.reals.generators import Generator, Quotient, Registry
from einderive.ta.reals.knowledge import Fact, Knowledge, Signs, multiplied

LAWS_OF_RELATIONS = {"sin": "pythagoras", "imaginary": "imaginary-square"}
MOST_DEGREE = 600
MOST_EXPONENT = 1000
MOST_MULTIPLE = 1 << 40
LARGE = 300
"""From this exponent on, a power of a generator is another generator times a small power."""
NEAR = 8
"""By this the exponent of that generator is less."""
MOST_BITS = 20_000


def number_to(number: Fraction, exponent: int) -> Fraction:
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if (abs(number) != 1 and bits * abs(exponent) > MOST_BITS) or not number:
        raise poly.TooLarge(f"a power {exponent}")
    return number**exponent


class Values:
    """The arithmetic, what is known, and the laws that were used."""

    def __init__(
        self, registry: Registry, case: Case, given: list[Fact], units: dict[str, int]
    ) -> None:
        self.registry, self.case, self.units = registry, case, units
        self.laws: set[str] = set()
        self.known = Knowledge(registry, ())
        self.known = Knowledge(registry, [*map(self._in_case, (*case.facts, *given))])

    def _in_case(self, fact: Fact) -> Fact:
        """The fact in what stands for its generators here; a denominator is positive or squared."""
        polynomial, signs = fact
        entries = {n: self.entry(n) for n in poly.used(polynomial) if n in self.case.signed}
        value = self.in_case(self.quotient(*poly.with_values(polynomial, entries)))
        return value.top * value.bottom, signs

    def entry(self, number: int) -> Quotient:
        """The value of an entry: another number in this case, or plus or minus an exponential."""
        sign = self.case.signed.get(number)
        if sign is None:
            return self.of(number)
        payload = Quotient(sign * poly.generator(number), poly.constant(1))
        logarithm = self.of(self.find("log", payload, key="entry"))
        return self.scaled(self.exponential(logarithm), sign)

    def exponential(self, value: Quotient) -> Quotient:
        """exp of each term apart, as a power of a generator."""
        result, unit = self.constant(1), self.units["exp"]
        for powers, coefficient in poly.terms(value.top):
            part = self.quotient(poly.monomial(powers), value.bottom)
            scale = poly.fraction(part.top.leading_coefficient())
            exponent = coefficient * scale * unit
            if exponent.denominator != 1:
                raise Unit("exp", exponent)
            if abs(exponent) > MOST_MULTIPLE:
                raise poly.TooLarge(f"exp of {coefficient} times a number")
            base = self.of(self.find("exp", self.scaled(part, 1 / scale), unit=unit))
            result = self.multiply(result, self.power(base, int(exponent)))
        return result

    def constant(self, value: Fraction | int) -> Quotient:
        return Quotient(poly.constant(value), poly.constant(1))

    def of(self, number: int) -> Quotient:
        """A generator; in this case it may be another number."""
        value = self.case.values.get(number)
        if value is not None:
            return self.in_case(value)
        return Quotient(poly.generator(number), poly.constant(1))

    def quotient(self, top: poly.Polynomial, bottom: poly.Polynomial) -> Quotient:
        top, bottom = self._reduced(top), self._reduced(bottom)
        if bottom.is_zero():
            raise NoValue
        common = top.gcd(bottom)
        if not common.is_one():
            top, bottom = top / common, bottom / common
        leading = bottom.leading_coefficient()
        if leading != 1:
            top, bottom = top / leading, bottom / leading
        if len(top) > poly.MOST_TERMS or len(bottom) > poly.MOST_TERMS:
            raise poly.TooLarge("too many terms")
        return Quotient(top, bottom)

    def in_case(self, value: Quotient) -> Quotient:
        """The number with the values that generators have in this case."""
        values = self.case.values
        if not values or not (poly.used(value.top) | poly.used(value.bottom)) & values.keys():
            return value
        top, below = poly.with_values(value.top, values)
        bottom, above = poly.with_values(value.bottom, values)
        return self.in_case(self.quotient(top * above, bottom * below))

    def add(self, left: Quotient, right: Quotient) -> Quotient:
        if left.bottom == right.bottom:
            return self.quotient(left.top + right.top, left.bottom)
        return self.quotient(
            left.top * right.bottom + right.top * left.bottom, left.bottom * right.bottom
        )

    def multiply(self, left: Quotient, right: Quotient) -> Quotient:
        return self.quotient(left.top * right.top, left.bottom * right.bottom)

    def scaled(self, value: Quotient, factor: Fraction | int) -> Quotient:
        return (
            Quotient(value.top * poly.constant(factor), value.bottom)
            if factor
            else self.constant(0)
        )

    def negative(self, value: Quotient) -> Quotient:
        return Quotient(-value.top, value.bottom)

    def subtract(self, left: Quotient, right: Quotient) -> Quotient:
        return self.add(left, self.negative(right))

    def power(self, base: Quotient, exponent: int) -> Quotient:
        """A large power of generators is a power of new ones, times a small one, so that
        (1-x^n)/(1-x) is no polynomial of many terms."""
        size = abs(exponent)
        rational = self.number(base)
        if rational:
            return self.constant(number_to(rational, exponent))
        if size >= LARGE and len(base.top) == len(base.bottom) == 1:
            ((powers, coefficient),), ((divisors, _),) = (
                poly.terms(base.top),
                poly.terms(base.bottom),
            )
            result = self.constant(number_to(coefficient, exponent))
            for number, degree in (*powers, *((n, -degree) for n, degree in divisors)):
                result = self.multiply(result, self._large(number, degree * exponent))
            return result
        degree = max(base.top.total_degree(), base.bottom.total_degree(), 1)
        most = max(len(base.top), len(base.bottom))
        if size > MOST_EXPONENT or (most > 1 and size * degree > MOST_DEGREE // most):
            raise poly.TooLarge(f"a power {exponent}")
        top, bottom = base.top**size, base.bottom**size
        return self.quotient(top, bottom) if exponent >= 0 else self.quotient(bottom, top)

    def _large(self, number: int, exponent: int) -> Quotient:
        size, base = abs(exponent), Quotient(poly.generator(number), poly.constant(1))
        keys = (made.key for made in self.registry.all if made[:2] == ("large", (base,)))
        near = next((key for key in keys if isinstance(key, int) and key <= size), size - NEAR)
        times, rest = divmod(size, near)
        top = (
            poly.generator(self.find("large", base, key=near)) ** times
            * poly.generator(number) ** rest
        )
        result = self.quotient(top, poly.constant(1))
        return result if exponent > 0 else self.quotient(result.bottom, result.top)

    def number(self, value: Quotient) -> Fraction | None:
        """The value, where it is a rational number."""
        return poly.number_of(value.top) if poly.number_of(value.bottom) == 1 else None

    def same(self, left: Quotient, right: Quotient) -> bool:
        """Whether both are equal wherever they have a value."""
        if left == right:
            return True
        difference = left.top * right.bottom - right.top * left.bottom
        return bool(self._reduced(difference).is_zero())

    def signs(self, value: Quotient) -> Signs:
        """The signs that the value may have."""
        return multiplied(self.known.signs(value.top), self.known.signs(value.bottom))

    def complex(self, value: Quotient) -> bool:
        """Whether the value may be no real number."""
        return any(map(self.registry.complex, poly.used(value.top) | poly.used(value.bottom)))

    def free(self, value: Quotient) -> frozenset[int]:
        """The iterators of sums that the value depends on."""
        numbers = poly.used(value.top) | poly.used(value.bottom)
        return frozenset[int]().union(*(self.registry[number].free for number in numbers))

    def find(
        self,
        kind: str,
        *payload: Quotient,
        unit: int = 1,
        key: object = None,
        free: frozenset[int] | None = None,
    ) -> int:
        """The generator of this kind with this payload, an old one where there is one."""
        for number, made in enumerate(self.registry.all):
            if (made.kind, made.unit, made.key) != (kind, unit, key):
                continue
            if len(made.payload) == len(payload) and all(
                self.same(self.in_case(a), b) for a, b in zip(made.payload, payload, strict=True)
            ):
                return number
        if free is None:
            free = frozenset[int]().union(*map(self.free, payload))
        return self.registry.new(Generator(kind, payload, unit, key, free))

    def solved(self, polynomial: poly.Polynomial) -> tuple[int, Quotient] | None:
        """An entry and its value where the polynomial is 0, if it is linear in one."""
        for number in sorted(poly.used(polynomial)):
            made = self.registry[number]
            parts = poly.coefficients_of(polynomial, number)
            linear = set(parts) <= {0, 1} and poly.number_of(parts[1]) is not None
            if linear and made.kind in ("read", "log") and not made.free:
                return number, self.quotient(-parts.get(0, poly.constant(0)), parts[1])
        return None

    def _reduced(self, polynomial: poly.Polynomial) -> poly.Polynomial:
        """Modulo the relations, the newest generators first."""
        for number in sorted(poly.used(polynomial), reverse=True):
            relation = self.registry.relation(number)
            if relation is None:
                continue
            order, value = relation
            if polynomial.degrees()[number] < order:
                continue
            parts = poly.coefficients_of(polynomial, number)
            polynomial = poly.constant(0)
            for degree, part in parts.items():
                over, rest = divmod(degree, order)
                polynomial += part * value**over * poly.generator(number) ** rest
            if order == 2 and self.registry[number].kind in LAWS_OF_RELATIONS:
                self.laws.add(LAWS_OF_RELATIONS[self.registry[number].kind])
        return polynomial
