"""Dual numbers modulo primes, on which a formula gives its derivative along a direction.

    a + t*e,  e^2 = 0        (a + s*e)*(b + t*e) = a*b + (a*t + b*s)*e
    f(a + t*e) = f(a) + f'(a)*t*e, f opaque, f' by the data of f         max: the tangent of the max

Comparisons of residues are drawn: z counts as positive by a hash, the opposite of that of -z, and
the greatest number by another.  A rule of differentiation needs no more: that relu(x) is x where
x > 0 and else 0, that a maximum is one of its operands, whichever.  So every branch is met, even
one that is taken between two near numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from functools import reduce as over
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from einderive.ta.equality.signs import combined
from einderive.ta.exact import fields
from einderive.ta.exact.fields import Array, halves, pair
from einderive.ta.exact.interp import value_of
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.functions.data import Pieces
from einderive.ta.gradients.derivatives import OPERANDS, formulas
from einderive.ta.ir.node import Access, Node, Number, Reducer

WHOLE: Final = 1 << 20
"""Residues below count as whole numbers where binary digits are asked for."""


@dataclass(frozen=True)
class DrawnField(fields.OrderedField):
    """Residues in an order that is drawn."""

    def positive(self, values: Array) -> Array:
        """Whether each number counts as positive: z or -z for each z other than 0."""
        minus = self._negative(values)
        drawn = (self.opaque("sign", np.minimum(values, minus)) & np.uint64(1)) == 1
        return np.asarray((values != 0) & (drawn ^ (values > minus)))

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        if known.picks:
            return np.where(args[0] != 0, args[1], args[2])
        if function in ("less", "less_equal"):
            x, y = args if function == "less" else (args[1], args[0])
            less = self.positive(self.add(y, self._negative(x)))
            return np.asarray(less if function == "less" else ~less).astype(np.uint64)
        if known.truth and known.arity == 2:
            return np.asarray(known.real(*args)).astype(np.uint64)
        if known.truth:  # a residue is a finite number
            return np.full_like(args[0], int(function == "isfinite"))
        if function == "finite":
            return args[0]
        if known.digits and all((arg < WHOLE).all() for arg in args):  # of iterators and constants
            return self.convert(known.real(*(arg.astype(np.int64) for arg in args)))
        if known.pieces is not None:
            return self._of_pieces(known.pieces, args)
        return super().apply(function, *args)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        """For max and min, the number whose hash is the greatest; the value of nothing is last."""
        if not REDUCERS[reducer].order:
            return super().reduce(reducer, values, axes)
        flat = fields.flattened(values, axes)
        nothing = flat == self.identity(reducer)
        keys = np.where(nothing, np.uint64(0), self.opaque(reducer, flat) + np.uint64(1))
        place = np.argmax(keys, axis=-1)
        return np.asarray(np.take_along_axis(flat, place[..., None], axis=-1)[..., 0])

    def _negative(self, values: Array) -> Array:
        return self.multiply(self.constant(Fraction(-1)), values)

    def _of_pieces(self, pieces: Pieces, args: tuple[Array, ...]) -> Array:
        """The piece of the side on which the gap lies; their mean where it is 0."""
        gap, above, below = (
            combined(self, row, args) for row in (pieces.gap, pieces.above, pieces.below)
        )
        step = self.constant(Fraction(pieces.step))
        above, below = self.add(above, step), self.add(below, self._negative(step))
        mean = self.multiply(self.constant(Fraction(1, 2)), self.add(above, below))
        return np.where(gap == 0, mean, np.where(self.positive(gap), above, below))


@dataclass(frozen=True)
class DualField(fields.Field):
    """Pairs of residues, packed into 64 bits: the value above the tangent."""

    prime: int = fields.PRIMES[0]
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    block: ClassVar[int] = DrawnField.block

    @property
    def part(self) -> DrawnField:
        return DrawnField(self.prime)

    def constant(self, value: Number) -> Array:
        return pair(self.part.constant(value), np.uint64(0))

    def convert(self, values: npt.ArrayLike) -> Array:
        """Signed integers are constants; unsigned ones are pairs already."""
        given = np.asarray(values)
        return given if given.dtype == np.uint64 else pair(self.part.convert(given), np.uint64(0))

    def power(self, base: Array, exponent: int) -> Array:
        value, tangent = halves(base)
        slope = self.part.multiply(
            self.part.constant(Fraction(exponent)), self.part.power(value, exponent - 1)
        )
        return pair(self.part.power(value, exponent), self.part.multiply(slope, tangent))

    def apply(self, function: str, *args: Array) -> Array:
        known = FUNCTIONS[function]
        if known.picks:
            return np.where(halves(args[0])[0] != 0, args[1], args[2])
        values, tangents = zip(*map(halves, args), strict=True) if args else ((), ())
        value = self.part.apply(function, *values)
        if known.truth or not any(tangent.any() for tangent in tangents):
            return pair(value, np.zeros_like(value))
        slopes = [_value(formula, self.part, values) for formula in formulas(function)]
        found = [self.part.multiply(s, t) for s, t in zip(slopes, tangents, strict=True)]
        return pair(value, over(self.part.add, found))

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        (a, s), (b, t) = halves(left), halves(right)
        if reducer == "sum":
            return pair(self.part.add(a, b), self.part.add(s, t))
        if reducer == "prod":
            cross = self.part.add(self.part.multiply(a, t), self.part.multiply(b, s))
            return pair(self.part.multiply(a, b), cross)
        return self.reduce(reducer, np.stack(np.broadcast_arrays(left, right), axis=-1), 1)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        value, tangent = halves(values)
        if reducer == "sum":
            return pair(
                self.part.reduce(reducer, value, axes), self.part.reduce(reducer, tangent, axes)
            )
        flat = fields.flattened(values, axes)
        if not REDUCERS[reducer].order:
            return fields.product_of(partial(self.combine, reducer), values, axes)
        found = self.part.reduce(reducer, value, axes)
        value, tangent = halves(flat)
        equal = value == found[..., None]
        total = self.part.reduce("sum", np.where(equal, tangent, np.uint64(0)), 1)
        ties = self.part.convert(equal.sum(axis=-1).astype(np.int64))
        return pair(found, self.part.multiply(total, self.part.power(ties, -1)))

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return pair(self.part.random(shape, generator), np.uint64(0))


def _value(formula: Node, field: fields.Field, args: tuple[Array, ...]) -> Array:
    """The formula of a derivative at these operands."""
    given = dict(zip(OPERANDS.values(), args, strict=False))

    def read(access: Access) -> Array:
        return next(arg for tensor, arg in given.items() if tensor is access.source)

    return value_of(formula, field, read)
