"""Residues that know where there is no value: what has been divided by 0, and infinities.

    1/0, 1/inf, inf - inf, x/0 * 0 have no value     nor has x*inf, the sign of x not being known
    log(0), sqrt(-1/2), rsqrt(0), log1p(-1) have none, where the operand is a number of the text
    inf + x = inf     0*inf = 0     max(x, -inf) = x     f(inf) where f is whole or infinite there

A residue and two marks: `NONE` for what has no value, which spreads through everything but the
branch of a select that is not taken, and `INFINITE`.  Without infinities, a position whose value is
marked in every draw divides by what is 0 for all entries, or has a function outside of its domain,
by Schwartz and Zippel.  An infinity that is multiplied by an entry has a sign that residues do not
have, and nothing is said then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce as fold
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from einderive.ta.equality.exp_law import ExponentialField
from einderive.ta.equality.signs import SignField
from einderive.ta.exact.fields import Array, Field, ModularField, flattened, whole_value
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.node import Apply, Number, Power, Reducer, Scope
from einderive.ta.ir.subst import every_term, is_infinite, reduces_nothing, stages

INFINITE: Final = np.uint64(1 << 31)
NONE: Final = np.uint64(1 << 63)
_MARKS: Final = INFINITE | NONE
"""Bits that no residue and no pair of residues has."""
_SMALL: Final = 1 << 12
"""A residue up to this magnitude is taken for a number with a known sign.  That a random residue is
so small in every draw has a negligible chance."""
_DIVISOR: Final = 1 << 6
"""For functions with a domain, n/d with |n| <= _SMALL and d up to this is taken for a number too.
One in 7000 random residues is such a number, and one in 10^15 in four draws."""


def divides(*roots: Scope) -> bool:
    """Whether something may be divided by 0."""
    return any(
        (isinstance(node, Power) and node.exponent < 0)
        or (isinstance(node, Apply) and FUNCTIONS[node.function].divides)
        for node in every_term(*roots)
    )


def partial(*roots: Scope) -> bool:
    """Whether the programs hold a NaN, or a function that is not finite at every number."""
    applied = {node.function for node in every_term(*roots) if isinstance(node, Apply)}
    return not all(FUNCTIONS[function].finite_at_numbers for function in applied)


def has_infinity(*roots: Scope) -> bool:
    """Whether the programs hold an infinite number, or a max or min over an empty range."""
    return any(map(is_infinite, every_term(*roots))) or any(map(reduces_nothing, stages(*roots)))


def missing(values: Array) -> Array:
    """Where the values are marked as missing."""
    return np.asarray((values & NONE) != 0)


@dataclass(frozen=True)
class ValuedField(Field):
    """Another field's residues, with marks for missing values and infinities.

    Without `unknown`, a value is marked only if it is missing whatever the signs are: the divisor
    is 0 or, with `domains`, a function has no value there.
    """

    inner: ModularField | ExponentialField
    domains: bool = True
    """Whether functions of negative numbers are marked, too."""
    unknown: bool = True
    """Whether a value is marked that is missing beside an infinity, or that has no known sign."""
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    block: ClassVar[int] = SignField.block

    def constant(self, value: Number) -> Array:
        residue = self.inner.constant(value)
        return np.asarray(residue | INFINITE) if isinstance(value, float) else residue

    def convert(self, values: npt.ArrayLike) -> Array:
        return self.inner.convert(values)

    def add(self, left: Array, right: Array) -> Array:
        total = self.inner.add(bare(left), bare(right))
        if not _marked(left, right):
            return total
        up, down = (self._is(left, s) | self._is(right, s) for s in (math.inf, -math.inf))
        return self._summed(total, up, down, missing(left | right))

    def _summed(self, total: Array, up: Array, down: Array, none: Array) -> Array:
        """A sum of finite operands that add up to `total`, and of infinities."""
        result = np.where(up, self.constant(math.inf), total)
        result = np.where(down, self.constant(-math.inf), result)
        return self._arithmetic(result, none, up & down)

    def _arithmetic(self, result: Array, none: Array, unknown: Array) -> Array:
        """The result where all operands have a value, and the operation is known."""
        if not self.unknown:
            return _without(np.where(unknown, bare(result), result), none)
        return _without(result, none | unknown)

    def multiply(self, left: Array, right: Array) -> Array:
        product = self.inner.multiply(bare(left), bare(right))
        if not _marked(left, right):
            return product
        sign = self._sign(left) * self._sign(right)  # a NaN where it is not known
        zero = (self._sign(left) == 0) | (self._sign(right) == 0)
        infinite = _infinite(left) | _infinite(right)
        result = np.where(infinite & (sign > 0), self.constant(math.inf), product)
        result = np.where(infinite & (sign < 0), self.constant(-math.inf), result)
        result = np.where(infinite & zero, self.constant(Fraction(0)), result)
        unknown = infinite & ~zero & np.isnan(sign)
        return self._arithmetic(result, missing(left | right), unknown)

    def power(self, base: Array, exponent: int) -> Array:
        result = self.inner.power(bare(base), exponent)
        if exponent < 0:  # of an infinity too: inf/inf were 0*inf
            zero = ~_infinite(base) & (self._value(base) == 0)
            result = self._arithmetic(result, zero, _infinite(base))
        if not _marked(base):
            return result
        at_infinity = base if exponent % 2 else self.constant(math.inf)
        whole = np.where(_infinite(base) & (exponent > 0), at_infinity, result)
        return _without(whole, missing(base))

    def apply(self, function: str, *args: Array) -> Array:
        result = self.inner.apply(function, *map(bare, args))
        function_of = FUNCTIONS[function]
        if not args:
            return _without(result, np.asarray(not function_of.finite_at_numbers))
        if function_of.reducer:
            best = -REDUCERS[function_of.reducer].identity
            result = self._chosen(best, result, *args)
        elif len(args) > 1:  # of an infinity it is not known
            unknown = fold(np.logical_or, map(_infinite, args))
            result = _without(result, unknown & np.asarray(self.unknown))
            if function_of.divides:
                result = _without(result, self._is(args[1], Fraction(0)))
        else:
            for point in (Fraction(0), math.inf, -math.inf):
                value = whole_value(function, point)
                if value is None or (value == 0 == point):
                    continue
                here = self._is(args[0], point)
                known = self.constant(Fraction(0) if value != value else value)
                result = np.where(here, known, result)
                result = _without(result, here & (value != value))
        if self.domains and function_of.domain is not None:
            known = self._known(args[0])
            with np.errstate(all="ignore"):
                finite = np.isfinite(function_of.real(known))
            result = _without(result, np.isfinite(known) & ~finite)
        none = [missing(arg) for arg in args]
        if function_of.picks and not self.unknown:  # the operand that is not taken may have none
            return _without(result, none[0] | (none[1] & none[2]))
        return _without(result, fold(np.logical_or, none))

    def _chosen(self, best: Number, both: Array, left: Array, right: Array) -> Array:
        """The reduction by max or min, in which an operand that is the opposite infinity does not
        count."""
        result = np.where(self._is(left, -best), right, both)
        result = np.where(self._is(right, -best), left, result)
        wins = self._is(left, best) | self._is(right, best)
        return np.where(wins, self.constant(best), result)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        if reducer == "sum":
            return self.add(left, right)
        if reducer == "prod":
            return self.multiply(left, right)
        return self.reduce(reducer, np.stack(np.broadcast_arrays(left, right), axis=-1), 1)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        if reducer == "prod" and _marked(values):
            flat = flattened(values, axes)
            return fold(self.multiply, (flat[..., k] for k in range(flat.shape[-1])))
        result = self.inner.reduce(reducer, bare(values), axes)
        if not _marked(values):
            return result
        last = tuple(range(values.ndim - axes, values.ndim))
        up, down = (self._is(values, s) for s in (math.inf, -math.inf))
        none = np.any(missing(values), axis=last)
        if reducer == "sum":
            finite = np.where(_infinite(values), self.constant(Fraction(0)), bare(values))
            total = self.inner.reduce(reducer, finite, axes)
            return self._summed(total, np.any(up, axis=last), np.any(down, axis=last), none)
        wins, loses = (up, down) if REDUCERS[reducer].order > 0 else (down, up)
        nothing = self.identity(reducer)
        best = self.constant(-REDUCERS[reducer].identity)
        result = np.where(np.all(loses, axis=last), nothing, result)
        return _without(np.where(np.any(wins, axis=last), best, result), none)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.inner.random(shape, generator)

    def differs(self, left: Array, right: Array) -> Array:
        unequal = self.inner.differs(bare(left), bare(right))
        kinds = _infinite(left) != _infinite(right)
        return np.asarray((unequal | kinds) & ~missing(left | right))

    def _is(self, values: Array, point: Number) -> Array:
        """Where a value is this infinity, or this number."""
        same = self._value(values) == self._value(self.constant(point))
        return np.asarray(same & (_infinite(values) == isinstance(point, float)))

    def _value(self, values: Array) -> Array:
        """The residue modulo the field's prime."""
        residue = bare(values)
        return residue >> np.uint64(32) if isinstance(self.inner, ExponentialField) else residue

    def _sign(self, values: Array) -> Array:
        """1, -1 or 0 for infinities and small integers; NaN where the sign is not known.  Fractions
        are left out: with them, more random numbers would seem to have a sign."""
        prime = self.inner.prime
        signed = self._value(values).astype(np.int64)
        signed = np.where(signed > prime // 2, signed - prime, signed)
        sign = np.where(np.abs(signed) <= _SMALL, np.sign(signed), np.nan)
        sign = np.where(self._is(values, math.inf), 1.0, sign)
        return np.where(self._is(values, -math.inf), -1.0, sign)

    def _known(self, values: Array) -> Array:
        """x = n/d for small |n| and d; NaN where it is none.

        Euclid's steps from (p, 0) and (x, 1) lead through pairs (r, s) with r = s*x mod p.  As
        2*|n|*d < p, there is at most one such n/d, and the first small r has it.
        """
        rest = self._value(values).astype(np.int64)
        before = np.full_like(rest, self.inner.prime)
        factor, factor_before = np.ones_like(rest), np.zeros_like(rest)
        while np.any(going := (rest > _SMALL) & (np.abs(factor) <= _DIVISOR)):
            quotient = before // np.where(going, rest, 1)
            before, rest = _step(going, before, rest, quotient)
            factor_before, factor = _step(going, factor_before, factor, quotient)
        small = (rest <= _SMALL) & (np.abs(factor) <= _DIVISOR) & ~_infinite(values)
        return np.where(small, rest / factor, np.nan)


def _step(going: Array, before: Array, last: Array, quotient: Array) -> tuple[Array, Array]:
    """A step of Euclid's algorithm, where it goes on."""
    return np.where(going, last, before), np.where(going, before - quotient * last, last)


def bare(values: Array) -> Array:
    """The values without marks."""
    return np.asarray(values & ~_MARKS)


def _marked(*values: Array) -> bool:
    return any(bool(np.any(array & _MARKS)) for array in values)


def _infinite(values: Array) -> Array:
    return np.asarray((values & INFINITE) != 0)


def _without(values: Array, none: Array) -> Array:
    """The values, with those taken away that are none."""
    return np.where(none, bare(values) | NONE, values)
