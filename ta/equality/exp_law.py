"""Residues in which exp(a + b) = exp(a) * exp(b) holds, and the argument for them.

A value is a pair of residues, modulo p and modulo q, for primes with p = 2*q + 1:

    (a, a') + (b, b') = (a + b mod p, a' + b' mod q)        products, sums and powers likewise
    exp(a, a')        = (g^a' mod p, h(g^a' mod p))          g a square modulo p, of the order q

The first residue is the value; exp reads the second.  h is a fixed pseudo-random function, so the
law does not hold for an exp in the argument of another exp.  Two values are equal if their first
residues are.  Signs, max and min are as in `signs`.  exp(a) is a square, and so positive.

**The base.**  g stands for e, a number that is no root of any polynomial with rational
coefficients.  g is drawn for the programs, another one for every draw (`square`).  If the base were
known beforehand, a formula could contain the number that exp(1) then is.  Each of the q - 1 squares
other than 0 and 1 has the order q, as q is prime.  Write the constants that stand in exponents,
exp(n/d), as powers of g^(1/d), which is such a square as well.  Two different polynomials of degree
m in it agree for at most m of the squares, so with a chance of at most m/(q - 1) in each draw.
exp(n) and exp(k) alone agree only if q divides n - k.

The idea is that of the verifier of Mirage (Wu et al., OSDI 2025).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from einderive.ta.equality.signs import SignField, compared
from einderive.ta.exact.fields import Array, Field, halves, pair, power_as_built
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.node import Number, Reducer

SAFE_PRIMES: Final = (2147454839, 2147365919, 2147363039, 2147345639)
"""The greatest primes p below 2^31 with (p - 1)/2 prime that have the signs of `equality.signs`."""
BASE: Final = 4
"""A base for code that does not compare a user's programs.  A known base proves nothing about
constants."""


@dataclass(frozen=True)
class ExponentialField(Field):
    """Pairs of residues modulo p and (p-1)/2, packed into 64 bits, the first above the second."""

    prime: int = SAFE_PRIMES[0]
    signed: bool = True
    base: int = BASE
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    block: ClassVar[int] = SignField.block

    @property
    def value(self) -> SignField:
        return SignField(self.prime, self.signed)

    @property
    def exponent(self) -> SignField:
        return SignField(self.prime // 2, self.signed)

    def constant(self, value: Number) -> Array:
        return pair(self.value.constant(value), self.exponent.constant(value))

    def convert(self, values: npt.ArrayLike) -> Array:
        """Signed integers become pairs of their residues; unsigned ones are pairs already."""
        given = np.asarray(values)
        if given.dtype == np.uint64:
            return given
        return pair(self.value.convert(given), self.exponent.convert(given))

    def power(self, base: Array, exponent: int) -> Array:
        first, second = halves(base)
        return pair(self.value.power(first, exponent), self.exponent.power(second, exponent))

    def apply(self, function: str, *args: Array) -> Array:
        firsts = [halves(arg)[0] for arg in args]
        first = self.value.apply(function, *firsts)
        if self.signed and FUNCTIONS[function].compares:
            return compared(self, function, args, self._sign)
        if function == "exp":
            first = np.where(args[0] == self.constant(-math.inf), first, self._exp(args[0]))
        whole = first <= 1  # f(0) and f(-inf), where they are whole, are so in both parts
        found = pair(first, np.where(whole, first, self.exponent.opaque(function, first)))
        if function == "pow":
            base, exponent = args
            integers = self.value.signed_residues(halves(exponent)[0])
            return power_as_built(self, found, base, exponent, integers)
        return found

    def _sign(self, value: Array) -> Array:
        """The sign of the value, as a pair."""
        sign = self.value.sign(halves(value)[0])
        minus = sign == self.prime - 1
        return pair(sign, np.where(minus, np.uint64(self.prime // 2 - 1), sign))

    def _exp(self, arg: Array) -> Array:
        _, exponent = halves(arg)
        result = np.ones_like(exponent)
        factor = self.base
        for bit in range(31):
            taken = (exponent >> np.uint64(bit)) & np.uint64(1)
            result = np.where(taken, result * np.uint64(factor) % np.uint64(self.prime), result)
            factor = factor * factor % self.prime
        return result

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        if REDUCERS[reducer].order:
            return self.reduce(reducer, np.stack(np.broadcast_arrays(left, right), axis=-1), 1)
        (a, x), (b, y) = halves(left), halves(right)
        return pair(self.value.combine(reducer, a, b), self.exponent.combine(reducer, x, y))

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        first, second = halves(values)
        if not REDUCERS[reducer].order:
            reduced = self.exponent.reduce(reducer, second, axes)
        else:
            nothing = first == self.value.identity(reducer)
            keys = self.value.keys(reducer, first, nothing, axes)
            reduced = self.exponent.extreme(reducer, second, keys, nothing, axes)
        return pair(self.value.reduce(reducer, first, axes), reduced)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        """Independent residues: by the Chinese remainder theorem, integers below p*q."""
        return pair(self.value.random(shape, generator), self.exponent.random(shape, generator))

    def differs(self, left: Array, right: Array) -> Array:
        return self.value.differs(halves(left)[0], halves(right)[0])
