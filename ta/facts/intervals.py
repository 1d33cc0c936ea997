"""Arithmetic of bounds: what holds of a sum, a product or a maximum of numbers with bounds.

    a > 0, b >= 1        a + b > 1      a*b > 0      maximum(a, b) >= 1
    0 <= a < 1           1 - a > 0      a^2 < 1

It speaks of finite numbers.  An end is left open if one of the numbers stays away from its own.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isinf

from einderive.ta.ir.node import Bounds, Number

MOST_BITS = 512
ZERO = Fraction(0)
AT_LEAST_0 = Bounds(least=ZERO)
ABOVE_0 = Bounds(least=ZERO, above=True)


def exactly(value: Number) -> Bounds:
    return Bounds(value, value)


def is_positive(x: Bounds) -> bool:
    return x.least > 0 or (x.least == 0 and x.above)


def is_negative(x: Bounds) -> bool:
    return is_positive(opposite(x))


def is_nonzero(x: Bounds) -> bool:
    return x.nonzero or is_positive(x) or is_negative(x)


def opposite(x: Bounds) -> Bounds:
    return Bounds(-x.greatest, -x.least, x.below, x.above, x.nonzero)


def scaled(x: Bounds, factor: Fraction) -> Bounds:
    """Of `factor` times the number, for a factor other than 0."""
    if factor < 0:
        return scaled(opposite(x), -factor)
    low, high = (end if isinf(end) else factor * end for end in (x.least, x.greatest))
    return _modest(x._replace(least=low, greatest=high))


def plus(x: Bounds, y: Bounds) -> Bounds:
    low = -inf if isinf(x.least) or isinf(y.least) else x.least + y.least
    high = inf if isinf(x.greatest) or isinf(y.greatest) else x.greatest + y.greatest
    return _modest(Bounds(low, high, x.above or y.above, x.below or y.below))


def times(x: Bounds, y: Bounds) -> Bounds:
    """Ends are known where neither number changes its sign."""
    if x.least < 0 and x.greatest <= 0:
        return opposite(times(opposite(x), y))
    if y.least < 0 and y.greatest <= 0:
        return opposite(times(x, opposite(y)))
    nonzero = is_nonzero(x) and is_nonzero(y)
    if x.least < 0 or y.least < 0:
        return Bounds(nonzero=nonzero)
    high = inf if isinf(x.greatest) or isinf(y.greatest) else x.greatest * y.greatest
    made = Bounds(
        ZERO if isinf(x.least) or isinf(y.least) else x.least * y.least,
        high,
        above=(x.above and is_positive(y)) or (y.above and is_positive(x)),
        below=(x.below or y.below) and high > 0,
        nonzero=nonzero,
    )
    return _modest(made)


def _modest(x: Bounds) -> Bounds:
    """The bounds without ends of too many digits; what is positive stays so."""
    if _is_long(x.least):
        x = x._replace(least=ZERO, above=True) if x.least > 0 else x._replace(least=-inf)
    return x._replace(greatest=inf) if _is_long(x.greatest) else x


def _is_long(end: Number) -> bool:
    return isinstance(end, Fraction) and max(abs(end.numerator), end.denominator) >> MOST_BITS > 0


def magnitude(x: Bounds) -> Bounds:
    if x.least >= 0:
        return x
    if x.greatest <= 0:
        return opposite(x)
    beyond = greater(x, opposite(x))
    return Bounds(ZERO, beyond.greatest, x.nonzero, beyond.below, x.nonzero)


def greater(x: Bounds, y: Bounds) -> Bounds:
    """Of the greater number."""
    low, above = max((x.least, x.above), (y.least, y.above))
    high, closed = max((x.greatest, not x.below), (y.greatest, not y.below))
    return Bounds(low, high, above, not closed, is_nonzero(x) and is_nonzero(y))


def lesser(x: Bounds, y: Bounds) -> Bounds:
    return opposite(greater(opposite(x), opposite(y)))


def either(x: Bounds, y: Bounds) -> Bounds:
    """Of a number that is the one or the other."""
    lows, highs = lesser(x, y), greater(x, y)
    return Bounds(lows.least, highs.greatest, lows.above, highs.below, highs.nonzero)
