"""Residues with a sign: what holds here for functions that compare holds for the real numbers.

    sign(x) = x^((p-1)/2)        the Legendre symbol: 1, -1, or 0 at 0
    |x| = x*sign(x)     relu(x) = (x+|x|)/2     maximum(a,b) = (a+b+|a-b|)/2     minimum likewise
    sign(x) as a function is opaque: at 0 it jumps, and what holds on either side says nothing
    max[k](f(k)) = m + the sum over k of h(f(k)-m),   m the mean of f(k), h pseudo-random, h(0) = 0
    min[k](f(k)) = -max[k](-f(k))

The symbol is multiplicative, as the sign of real numbers is.  For the primes used here, -1 is no
square and 2, 3, 5, 7, 11 and 13 are, as are all products of these: so constants have the signs that
they have in the reals, or, for other primes in them, one that differs from one prime p to the next.

**Why equality here is equality there.**  Write both sides with signs: sums of products of rational
functions and of symbols s_f for the signs of distinct irreducible polynomials f, with s_f^2 = 1 (of
which the values of max are new variables, each for the multiset of the f(k)-m).  At random residues
the s_f are as good as independent, each 1 or -1 half of the time.  If the difference of both sides
is not 0 in these symbols, and no product in it has more than k of them, then it is not 0 for a
share of at least 2^-k of the signs; so N draws miss it with a chance of about (1 - 2^-k)^N.  If it
is 0 in these symbols, then it is 0 for the signs that occur over the reals, wherever no f is 0;
and as all these functions are continuous, there as well.

What follows from other properties of order is not found here: that a sum of positive numbers is
positive, that max is idempotent, or that max(c*a) = c*max(a).  For a max of maxima see
`ta.extremes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

from ta.fields import Array, Field, ModularField, whole_value
from ta.functions import FUNCTIONS
from ta.node import Number, Reducer

PRIME: Final = 2147483399
"""The greatest prime below 2^31 for which -1 is no square and 2, 3, 5, 7, 11, 13 are."""
COMPARING: Final = frozenset({"abs", "relu", "maximum", "minimum"})
"""The functions that have the value that follows from the sign."""


@dataclass(frozen=True)
class SignField(ModularField):
    """Integers modulo such a prime (`ta.primes.sign_primes`).  An infinity is one residue; f of it
    is right where f of the infinity is whole, as in exp(-inf) = 0, and max leaves -inf out."""

    prime: int = PRIME
    signed: bool = True
    """Where it is false, functions that compare are opaque too: less follows, from fewer draws."""
    block: ClassVar[int] = 1 << 22  # a reduction by max sees all its operands at once

    @property
    def infinity(self) -> int:
        """What stands for infinity: a residue that no constant is chosen to be, and a square, so
        that its sign is 1."""
        return pow(int(self.opaque("inf", np.asarray(np.uint64(1)))), 2, self.prime)

    def constant(self, value: Number) -> Array:
        if isinstance(value, float):
            value = Fraction(self.infinity if value > 0 else -self.infinity)
        return super().constant(value)

    def sign(self, values: Array) -> Array:
        return self.power(values, self.prime // 2)

    def apply(self, function: str, *args: Array) -> Array:
        if self.signed and function in COMPARING:
            return compared(self, function, args, self.sign)
        if function in ("maximum", "minimum"):
            args = (np.minimum(*args), np.maximum(*args))
        result = self.opaque(function, *args)
        if FUNCTIONS[function].arity > 1:
            return result
        for point in (Fraction(0), math.inf, -math.inf):
            value = whole_value(function, point)
            if isinstance(value, Fraction) or (value is not None and math.isinf(value)):
                result = np.where(args[0] == self.constant(point), self.constant(value), result)
        return result

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        if reducer in ("sum", "prod"):
            return super().combine(reducer, left, right)
        nothing = self.identity(reducer)
        both = compared(self, f"{reducer}imum", (left, right), self.sign)
        return np.where(left == nothing, right, np.where(right == nothing, left, both))

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        if reducer in ("sum", "prod"):
            return super().reduce(reducer, values, axes)
        left_out = values == self.identity(reducer)
        keys = self.keys(reducer, values, left_out, axes)
        return self.extreme(reducer, values, keys, left_out, axes)

    def keys(self, reducer: Reducer, values: Array, left_out: Array, axes: int) -> Array:
        """The values less the mean of those that are not left out; for min, times -1."""
        mean = self._mean(values, left_out, axes)
        minus = self.constant(Fraction(-1))
        centred = self.add(values, self.multiply(minus, mean))
        return self.multiply(minus, centred) if reducer == "min" else centred

    def extreme(
        self, reducer: Reducer, values: Array, keys: Array, left_out: Array, axes: int
    ) -> Array:
        """max or min over the last axes; `keys` may come from another field of the same values."""
        last = tuple(range(values.ndim - axes, values.ndim))
        parts = np.where(left_out | (keys == 0), np.uint64(0), self.opaque("max", keys))
        total = self._residue(np.asarray(np.sum(parts, axis=last)))
        if reducer == "min":
            total = self.multiply(self.constant(Fraction(-1)), total)
        found = self.add(self._mean(values, left_out, axes).reshape(total.shape), total)
        return np.where(np.all(left_out, axis=last), self.identity(reducer), found)

    def _mean(self, values: Array, left_out: Array, axes: int) -> Array:
        last = tuple(range(values.ndim - axes, values.ndim))
        kept = np.where(left_out, np.uint64(0), values)
        total = self._residue(np.asarray(np.sum(kept, axis=last, keepdims=True)))
        count = np.sum(~left_out, axis=last, keepdims=True).astype(np.uint64)
        return self.multiply(total, self.power(count, -1))


def compared(
    field: Field, function: str, args: tuple[Array, ...], sign: Callable[[Array], Array]
) -> Array:
    """A function of `COMPARING`, from the sign of a number of the field."""
    half = field.constant(Fraction(1, 2))
    if function in ("maximum", "minimum"):
        left, right = args
        minus = field.constant(Fraction(-1))
        gap = field.add(left, field.multiply(minus, right))
        size = field.multiply(gap, sign(gap))
        if function == "minimum":
            size = field.multiply(minus, size)
        return field.multiply(half, field.add(field.add(left, right), size))
    size = field.multiply(args[0], sign(args[0]))
    if function == "abs":
        return size
    assert function == "relu"
    return field.multiply(half, field.add(args[0], size))
