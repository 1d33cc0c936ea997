"""Real numbers as balls: a middle and how far it may be off, at any number of digits.

    (a, r) + (b, s) = (a + b, r + s + u)      (a, r) * (b, s) = (a*b, |a|*s + |b|*r + r*s + u)
    f(a, r) = (f(a), s + u)     |f(x) - f(a)| <= s where |x - a| <= r      u some units in the last
                                                                           place

A difference that floating point shows may be cancellation.  Two balls that lie apart are different
numbers.  Where they do not, the digits do not suffice, however far the middles are.  A divisor
whose ball holds 0 has no reciprocal, and what is computed from what has no value has none: no
product with 0, no max.  How far s a function spreads a ball follows from its slope, or from its
range (`SPREADS`); it is not found by trying points.
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

from einderive.ta.exact.fields import Array, Field
from einderive.ta.ir.node import Number, Reducer

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
    "finite": lambda c, x: c.zero if c.isinf(x) else x,
}


def _by_slope(
    most: str,
    slope: Callable[[Context, Any, Any], Any],
    width: int | None = None,
) -> Callable[[Context, Any, Any], Any]:
    """r times the greatest slope within r of x, which is at most `most` anywhere; and no more than
    the width of the range."""

    def spread(c: Context, x: Any, r: Any) -> Any:
        found = r * min(c.mpf(most), slope(c, x, r))
        return found if width is None else min(found, c.mpf(width))

    return spread


def _away(x: Any, r: Any) -> Any:
    """The least magnitude of a number within r of x."""
    return max(abs(x) - r, 0)


SPREADS: dict[str, Callable[[Context, Any, Any], Any]] = {
    # e^(x+r) - e^x is the greater difference, as exp is convex and rises; expm1 likewise.
    "exp": lambda c, x, r: c.exp(x) * c.expm1(r),
    "expm1": lambda c, x, r: c.exp(x) * c.expm1(r),
    # log(x) - log(x-r) is the greater one, as log is concave and rises; none unless x - r > 0.
    "log": lambda c, x, r: -c.log1p(-r / x) if x > r else None,
    "log1p": lambda c, x, r: -c.log1p(-r / (1 + x)) if 1 + x > r else None,
    # |sqrt(y)-sqrt(x)| = |y-x|/(sqrt(y)+sqrt(x)) <= r/sqrt(x)
    "sqrt": lambda c, x, r: r / c.sqrt(x) if x > r else None,
    # The slope y^(-3/2)/2 is the greatest at y = x - r.
    "rsqrt": lambda c, x, r: r / (2 * (x - r) * c.sqrt(x - r)) if x > r else None,
    "sin": lambda c, x, r: min(r, c.mpf(2)),
    "cos": lambda c, x, r: min(r, c.mpf(2)),
    # 1/cosh(y)^2 <= 4*exp(-2|y|)
    "tanh": _by_slope("1", lambda c, x, r: 4 * c.exp(-2 * _away(x, r)), 2),
    # 2/sqrt(pi)*exp(-y^2)
    "erf": _by_slope("1.2", lambda c, x, r: c.mpf("1.2") * c.exp(-(_away(x, r) ** 2)), 2),
    # s(y)*s(-y) for the sigmoid s, at most exp(-|y|) and 1/4
    "sigmoid": _by_slope("0.25", lambda c, x, r: c.exp(-_away(x, r)), 1),
    # s(y)*(1 + y*s(-y)), at most 1.0999; below 0, s(y) <= exp(y) and |1 + y*s(-y)| <= 1 + |y|
    "silu": _by_slope(
        "1.1", lambda c, x, r: c.exp(x + r) * (1 + abs(x) + r) if x + r < 0 else c.inf
    ),
    # P(y) + y*P'(y) for the normal distribution P, at most 1.1290; below 0, P(y) and P'(y) are at
    # most exp(-y^2/2)/2
    "gelu": _by_slope(
        "1.13",
        lambda c, x, r: c.exp(-((x + r) ** 2) / 2) * (1 + abs(x) + r) if x + r < 0 else c.inf,
    ),
    # the sigmoid, at most 1 and exp(y)
    "softplus": _by_slope("1", lambda c, x, r: c.exp(min(x + r, c.zero))),
    "abs": lambda c, x, r: r,
    "finite": lambda c, x, r: r,
    "relu": lambda c, x, r: r if x + r > 0 else c.zero,
}
"""For each function f, x and r, at least the greatest |f(y) - f(x)| where |y - x| <= r; None where
f(y) is not known to have a value."""
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
        infinite = context.isinf(arg.middle)
        if not infinite and abs(arg.middle) + arg.radius > context.mpf(2) ** MOST_EXPONENT:
            return self._nothing
        try:
            middle = DEFINITIONS[function](context, arg.middle)
            spread = context.zero if infinite else self._spread(function, arg)
        except (ValueError, ZeroDivisionError, OverflowError, context.NoConvergence):
            return self._nothing
        if spread is None or not isinstance(middle, context.mpf):
            return self._nothing
        if context.isinf(middle):  # but for an infinity: log(0)
            return Ball(middle, context.zero) if infinite else self._nothing
        if function == "gelu" and not infinite:
            return self._gelu(middle, spread, arg.middle)
        return self._ball(middle, spread)

    def _spread(self, function: str, arg: Ball) -> Any:
        """By a radius that is a little greater, as its sum with the middle is rounded."""
        if not arg.radius and function not in ("log", "log1p", "sqrt", "rsqrt"):
            return self.context.zero
        return SPREADS[function](self.context, arg.middle, arg.radius * 9 / 8)

    def _gelu(self, middle: Any, spread: Any, arg: Any) -> Ball:
        """-x/sqrt(2) is rounded, by two units, and erfc(z) has the slope -(2*z + 2)*erfc(z) at most
        where z > 0, so that the value is off by a share of (3*x^2 + 4) units."""
        share = 4 * (arg * arg + 2) * self.context.eps
        return self._ball(middle, spread + abs(middle) * share) if share < 1 else self._nothing

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


_ZERO = frozenset(
    {"log1p", "expm1", "sqrt", "sin", "tanh", "erf", "silu", "gelu", "abs", "relu", "finite"}
)
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
