"""Residues with a sign: identities that hold in them for functions that compare hold for real
numbers.

    sign(x) = x^((p-1)/2)        the Legendre symbol: 1, -1, or 0 at 0
    |x| = x*sign(x)     relu(x) = (x+|x|)/2     maximum(a,b) = (a+b+(a-b)*sign(a-b))/2
    any other function that compares likewise, from its pieces (`ta.functions.data.Pieces`)
    sign(x) as a function is opaque: it jumps at 0, and the values on either side do not give it
    max[k](f(k)) = m + H({f(k)-m}),   m the mean of f(k), H pseudo-random on multisets, H({0}) = 0
    min[k](f(k)) = -max[k](-f(k))

**Max.**  H has one value for each multiset of numbers of mean 0, in which zeros do not count.  The
real max is of this form: max(S) = m + H(S-m), with H the greatest of the numbers S-m of mean 0.
This H is at least 0, it is 0 if all numbers are 0, and further zeros do not change it.  So *an
equality that holds for every such H holds for max.*

Write every distinct multiset's H in a program as a new variable, from the inside out.  Two
multisets of rational functions of entries and variables may be the same multiset; then they are one
variable for every H.  Otherwise they differ at random residues, up to the chance of Schwartz and
Zippel, and their values of H are independent, as two variables are.  Hence two programs that agree
for a random H at random entries are equal rational functions of entries and variables (with the
stated chance). So they are equal for all values of the variables, including those that max gives,
even if real multisets happen to be equal that are not the same.  It is essential that H is one
number for the whole multiset.  If it were a sum over the elements, multisets could be regrouped.

This shows what is true of every H: the order of operands, max(a+c) = max(a)+c, the max of one
number, of a number many times, and max(a,b) + min(a,b) = a+b for two operands.  It does not show
that max is idempotent, nor that max(c*a) = c*max(a).  For a max of maxima see
`ta.equality.extremes`.

**Signs.**  The symbol is multiplicative, as the sign of real numbers is.  For the primes used here,
-1 is no square, and 2, 3, 5, 7, 11 and 13 are squares.  So constants made of these have the signs
that they have in the reals.  Every greater prime has a random sign, another one in every draw, as
every draw has a prime of its own.

Fix real entries.  Give each irreducible factor (of the polynomials whose signs are asked, prime
factors of constants included) its real sign, and 1 if it is 0: |u| = u*sign(u) holds there too,
since u = 0.  These signs are one *branch*: one outcome of every symbol that is asked.  On a branch
a program is a rational function, and its value at these entries is the program's real value.  So it
suffices that both programs are equal on every branch, and a random draw that lands on a branch on
which they differ shows it.  `sign_bounds` says how large the share of such draws is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce as fold
from typing import Final

import numpy as np

from einderive.ta.exact.fields import Array, Field, OrderedField, whole_value
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.node import Number, Reducer

PRIME: Final = 2147483399
"""The greatest prime below 2^31 for which -1 is no square and 2, 3, 5, 7, 11, 13 are."""


@dataclass(frozen=True)
class SignField(OrderedField):
    """Integers modulo such a prime (`sign_primes`).  An infinity is one residue; f of it
    is right where f of the infinity is whole, as in exp(-inf) = 0, and max leaves -inf out."""

    prime: int = PRIME
    signed: bool = True
    """If it is false, functions that compare are opaque too: less follows, from fewer draws."""

    @property
    def infinity(self) -> int:
        """The residue that stands for infinity.  No constant is chosen to be this residue, and it
        is a square, so that its sign is 1."""
        return pow(int(self.opaque("inf", np.asarray(np.uint64(1)))), 2, self.prime)

    def constant(self, value: Number) -> Array:
        if isinstance(value, float):
            value = Fraction(self.infinity if value > 0 else -self.infinity)
        return super().constant(value)

    def sign(self, values: Array) -> Array:
        return self.power(values, self.prime // 2)

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        if self.signed and known.compares:
            return compared(self, function, args, self.sign)
        if known.reducer:
            args = (np.minimum(*args), np.maximum(*args))
        result = self.opaque(function, *args)
        if known.arity != 1:
            return result
        for point in (Fraction(0), math.inf, -math.inf):
            value = whole_value(function, point)
            if isinstance(value, Fraction) or (value is not None and math.isinf(value)):
                result = np.where(args[0] == self.constant(point), self.constant(value), result)
        return result

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        if not REDUCERS[reducer].order:
            return super().reduce(reducer, values, axes)
        left_out = values == self.identity(reducer)
        keys = self.keys(reducer, values, left_out, axes)
        return self.extreme(reducer, values, keys, left_out, axes)

    def keys(self, reducer: Reducer, values: Array, left_out: Array, axes: int) -> Array:
        """The values less the mean of those that are not left out; for min, their opposites."""
        mean = self._mean(values, left_out, axes)
        minus = self.constant(Fraction(-1))
        centred = self.add(values, self.multiply(minus, mean))
        return self.multiply(minus, centred) if REDUCERS[reducer].order < 0 else centred

    def extreme(
        self, reducer: Reducer, values: Array, keys: Array, left_out: Array, axes: int
    ) -> Array:
        """The max or min over the last axes.  `keys` may come from another field of the same
        values."""
        last = tuple(range(values.ndim - axes, values.ndim))
        ignored = left_out | (keys == 0)
        high, low = (self.opaque(name, keys) for name in ("element", "element again"))
        parts = np.where(ignored, np.uint64(0), (high << np.uint64(32)) | low)
        whole = np.asarray(np.sum(parts, axis=last))  # modulo 2^64: one number for the multiset
        total = np.where(np.all(ignored, axis=last), np.uint64(0), self.opaque("multiset", whole))
        if REDUCERS[reducer].order < 0:
            total = self.multiply(self.constant(Fraction(-1)), total)
        found = self.add(self._mean(values, left_out, axes).reshape(total.shape), total)
        return np.where(np.all(left_out, axis=last), self.identity(reducer), found)

    def _mean(self, values: Array, left_out: Array, axes: int) -> Array:
        last = tuple(range(values.ndim - axes, values.ndim))
        kept = np.where(left_out, np.uint64(0), values)
        total = self._residue(np.asarray(np.sum(kept, axis=last, keepdims=True)))
        count = np.sum(~left_out, axis=last, keepdims=True)
        counts, which = np.unique(count, return_inverse=True)
        inverse = [pow(int(n), -1, self.prime) if n else 0 for n in counts]
        return self.multiply(total, np.array(inverse, np.uint64)[which.reshape(count.shape)])


def compared(
    field: Field, function: str, args: tuple[Array, ...], sign: Callable[[Array], Array]
) -> Array:
    """The value of a function that compares, from the sign of a number: half the sum of its pieces,
    and half their difference times that sign."""
    pieces = FUNCTIONS[function].pieces
    assert pieces is not None
    rows = list(zip(pieces.above, pieces.below, strict=True))
    total = combined(field, [a + b for a, b in rows], args)
    apart = combined(field, [a - b for a, b in rows], args)
    size = field.multiply(apart, sign(combined(field, pieces.gap, args)))
    return field.multiply(field.constant(Fraction(1, 2)), field.add(total, size))


def combined(field: Field, row: Sequence[int], args: Sequence[Array]) -> Array:
    """`row.args`, the sum of coefficients times operands."""
    terms = (field.multiply(field.constant(Fraction(c)), x) for c, x in zip(row, args, strict=True))
    return fold(field.add, terms)
