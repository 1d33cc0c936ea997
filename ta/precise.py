"""Real numbers as balls: a middle and how far it may be off, at any number of digits.

    (a, r) + (b, s) = (a + b, r + s + u)      (a, r) * (b, s) = (a*b, |a|*s + |b|*r + r*s + u)
    f(a, r) = (f(a), the greater |f(a ± r) - f(a)| + u)        u a unit in the last place, at least

A difference that floating point shows may be cancellation.  Two balls that lie apart are different
numbers.  Where they do not, the digits do not suffice, however far the middles are.  A divisor
whose ball holds 0 has no reciprocal, and what is computed from what has no value has none: no
product with 0, no max.  Functions are monotone over balls so small that it matters (sin, cos, silu
and gelu but at their extremes, where they are flat).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from functools import reduce as fold
from typing import Any, ClassVar, TypeAlias

import mpmath
import numpy as np
import numpy.typing as npt

from ta.fields import Array, Field
from ta.node import Number, Reducer

Context: TypeAlias = Any
"""mpmath's arithmetic at one precision."""


@dataclass(frozen=True, slots=True)
class Ball:
    """`middle`, or no value where it is NaN."""

    middle: Any
    radius: Any

    @property
    def zero(self) -> bool:
        """Whether it is 0 without an error."""
        return bool(self.middle == 0 and self.radius == 0)


@cache
def _context(digits: int) -> Context:
    context = mpmath.MPContext()
    context.dps = digits
    return context


DEFINITIONS: dict[str, Callable[[Context, Any], Any]] = {
    "exp": lambda c, x: c.exp(x),
    "log": lambda c, x: c.log(x),
    "log1p": lambda c, x: c.log1p(x),
    "expm1": lambda c, x: c.expm1(x),
    "sqrt": lambda c, x: c.sqrt(x),
    "rsqrt": lambda c, x: 1 / c.sqrt(x),
    "sin": lambda c, x: c.sin(x),
    "cos": lambda c, x: c.cos(x),
    "tanh": lambda c, x: c.tanh(x),
    "erf": lambda c, x: c.erf(x),
    "sigmoid": lambda c, x: 1 / (1 + c.exp(-x)),
    "silu": lambda c, x: x / (1 + c.exp(-x)),
    "gelu": lambda c, x: x / 2 * c.erfc(-x / c.sqrt(2)),
    "softplus": lambda c, x: c.log1p(c.exp(x)),
    "abs": lambda c, x: abs(x),
    "relu": lambda c, x: x if x > 0 else c.zero,
}
MOST_EXPONENT = 4096
"""Numbers beyond 2 to this power have no function's value here: it would take too long."""


@dataclass(frozen=True)
class PreciseField(Field):
    """Balls at so many decimal digits, as objects."""

    digits: int = 50
    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    block: ClassVar[int] = 64  # each costs as much as thousands of others

    @cached_property
    def context(self) -> Context:
        return _context(self.digits)

    def _ball(self, middle: Any, radius: Any) -> Ball:
        """With the error of rounding the middle and the radius."""
        context = self.context
        if context.isnan(middle) or context.isnan(radius) or radius == context.inf:
            return Ball(context.nan, context.zero)
        if context.isinf(middle):
            return Ball(middle, context.zero)
        return Ball(middle, 2 * radius + 16 * abs(middle) * context.eps)

    def _exact(self, value: Number | int) -> Ball:
        context = self.context
        if isinstance(value, Fraction):
            middle = context.mpf(value.numerator) / value.denominator
            whole = value.denominator == 1 and abs(value.numerator) < 1 << 64
            return Ball(middle, context.zero) if whole else self._ball(middle, context.zero)
        return Ball(context.mpf(value), context.zero)

    def _add(self, left: Ball, right: Ball) -> Ball:
        if left.zero or right.zero:
            return right if left.zero else left
        return self._ball(left.middle + right.middle, left.radius + right.radius)

    def _multiply(self, left: Ball, right: Ball) -> Ball:
        if self._none(left) or self._none(right):
            return self._nothing
        if left.zero or right.zero:
            return Ball(self.context.zero, self.context.zero)
        if any(map(self.context.isinf, (left.middle, right.middle))):
            known = abs(left.middle) > left.radius and abs(right.middle) > right.radius
            middle = left.middle * right.middle
            return Ball(middle, self.context.zero) if known else self._nothing
        radius = abs(left.middle) * right.radius + abs(right.middle) * left.radius
        return self._ball(left.middle * right.middle, radius + left.radius * right.radius)

    def _power(self, base: Ball, exponent: int) -> Ball:
        if self._none(base):
            return base
        if exponent > 0:
            half = self._power(base, exponent // 2) if exponent > 1 else base
            square = self._multiply(half, half) if exponent > 1 else base
            odd = exponent > 1 and exponent % 2
            return self._multiply(square, base) if odd else square
        if self.context.isinf(base.middle) or not abs(base.middle) > base.radius:
            return self._nothing
        least = abs(base.middle) - base.radius
        inverse = self._ball(1 / base.middle, base.radius / (least * abs(base.middle)))
        return inverse if exponent == -1 else self._power(inverse, -exponent)

    def _apply(self, function: str, *args: Ball) -> Ball:
        if any(map(self._none, args)):
            return self._nothing
        context = self.context
        if function in ("maximum", "minimum"):
            return self._choose(max if function == "maximum" else min, *args)
        (arg,) = args
        if function == "sign":
            known = arg.zero or abs(arg.middle) > arg.radius
            return Ball(context.sign(arg.middle), context.zero) if known else self._nothing
        if arg.zero and function in _ZERO:
            return arg
        if not context.isinf(arg.middle) and abs(arg.middle) > context.mpf(2) ** MOST_EXPONENT:
            return self._nothing
        try:
            ends = {arg.middle, arg.middle - arg.radius, arg.middle + arg.radius}
            found = {end: DEFINITIONS[function](context, end) for end in ends}
        except (ValueError, ZeroDivisionError, OverflowError, context.NoConvergence):
            return self._nothing
        if not all(isinstance(value, context.mpf) for value in found.values()):
            return self._nothing
        middle = found[arg.middle]
        if context.isinf(middle) and not context.isinf(arg.middle):
            return self._nothing  # log(0)
        if context.isinf(middle):
            return Ball(middle, context.zero)
        return self._ball(middle, max(abs(value - middle) for value in found.values()))

    def _choose(self, choose: Callable[[Any, Any], Any], left: Ball, right: Ball) -> Ball:
        if self._none(left) or self._none(right):
            return self._nothing
        radius = max(left.radius, right.radius)
        return Ball(choose(left.middle, right.middle), radius)

    @property
    def _nothing(self) -> Ball:
        return Ball(self.context.nan, self.context.zero)

    def _none(self, ball: Ball) -> bool:
        return bool(self.context.isnan(ball.middle))

    def constant(self, value: Number) -> Array:
        return _object(self._exact(value))

    def convert(self, values: npt.ArrayLike) -> Array:
        given = np.asarray(values)
        result = np.empty(given.shape, dtype=object)
        for place in np.ndindex(given.shape):
            result[place] = self._converted(given.item(place))
        return result

    def _converted(self, value: Any) -> Ball:
        return value if isinstance(value, Ball) else self._exact(value)

    def add(self, left: Array, right: Array) -> Array:
        return _mapped(self._add, left, right)

    def multiply(self, left: Array, right: Array) -> Array:
        return _mapped(self._multiply, left, right)

    def power(self, base: Array, exponent: int) -> Array:
        return _mapped(lambda ball: self._power(ball, exponent), base)

    def apply(self, function: str, *args: Array) -> Array:
        return _mapped(lambda *balls: self._apply(function, *balls), *args)

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return _mapped(self._step(reducer), left, right)

    def _step(self, reducer: Reducer) -> Callable[[Ball, Ball], Ball]:
        if reducer in ("sum", "prod"):
            return self._add if reducer == "sum" else self._multiply
        choose = max if reducer == "max" else min
        return lambda left, right: self._choose(choose, left, right)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        shape = values.shape[: values.ndim - axes]
        flat = values.reshape(math.prod(shape), -1)
        result = np.empty(len(flat), dtype=object)
        for place, row in enumerate(flat):
            result[place] = fold(self._step(reducer), row)
        return result.reshape(shape)

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.convert(generator.standard_normal(shape))

    def differs(self, left: Array, right: Array) -> Array:
        """Where the balls lie apart."""
        return np.asarray(_mapped(self._apart, left, right), dtype=bool)

    def _apart(self, left: Ball, right: Ball) -> bool:
        if self._none(left) or self._none(right):
            return False
        if self.context.isinf(left.middle) or self.context.isinf(right.middle):
            return bool(left.middle != right.middle)
        return bool(abs(left.middle - right.middle) > 2 * (left.radius + right.radius))


_ZERO = frozenset({"log1p", "expm1", "sqrt", "sin", "tanh", "erf", "silu", "gelu", "abs", "relu"})
"""f(0) = 0, without an error."""


def _object(value: object) -> Array:
    return np.asarray(value, dtype=object)


def _mapped(function: Callable[..., Any], *args: Array) -> Array:
    """The function at every position."""
    arrays = np.broadcast_arrays(*args)
    result = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = function(*(array[place] for array in arrays))
    return result
