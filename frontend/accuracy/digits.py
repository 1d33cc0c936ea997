"""Decimal digits that a program loses against the formula as written, row by row.

    lost on a row  =  log10( e / max(w, m*eps*|f|, eps*t) )                at most one by default

    e, w    max|y - r| over the row, of the program and of the formula as written (the larger of its
            ways to accumulate a sum)
    r       the exact values
    t       max over the row of what the terms of its sums add up to (`accuracy.summed`), of
            max|r|, and of the smallest normal number
    |f|     max over the row of the formula on absolute values (`accuracy.levels.magnitude`)
    m       the median over the rows, and over further inputs of the family where rows are few, of
            w/(eps*|f|)

**t.**  No order of summation can guarantee an error below eps times its terms' magnitudes (Higham,
section 4.2), and torch's own orders differ by that much.  A difference that is computed before it
is summed counts with its own size, so a program that subtracts sums instead is not excused.

**m.**  m*eps*|f| is the error that the formula as written typically has on a row with terms of that
size.  If a row's own w is small by chance, an order of summation that is no worse is not refused
for it.  m is measured.  Where |f| is far too large, as for the squares of deviations from a
computed mean, m is far below 1.  So a row whose entries are nearly 0 because large terms cancel is
judged by the error of the formula as written, and not by its own size.  If the formula as written
is exact there, the program has to be exact too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log10
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
WRONG = 0.1
"""The formula as written sets no standard on an output if its error on the whole output is larger:
it then has no digit right."""
MOST_LOST = 1.0
"""Decimal digits that a program may lose by default."""


class Values(NamedTuple):
    """A row of exact values, |f| there, the same with absolute values under sums only (its maximum
    is t), and the row as written in each way to accumulate a sum."""

    exact: Array
    terms: Array
    summed: Array
    ways: tuple[Array, ...]


class Limits(NamedTuple):
    """Of an output's type: eps, and the smallest normal and the largest number."""

    epsilon: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is judged.

    It has the values, where they count, max|r| (at least the smallest normal number), the error
    from which lost digits are counted, w, and the smallest normal number.
    """

    values: Values
    counts: Array
    size: float
    error: float
    written: float
    least: float

    def off_by(self, got: Array) -> float:
        """max|y - r| over the entries that count.  Infinite if one of them is not finite."""
        return _off_by(got, self.values.exact, self.counts)


@dataclass(frozen=True, slots=True)
class Loss:
    """The most digits that a program loses on a row of one output, or on the whole, and the
    relative errors there, its own and that of the formula as written; those of the whole where no
    digit is lost."""

    error: float
    written: float
    digits: float


def largest(values: Array) -> float:
    """The largest magnitude, 0 if there are no values."""
    return float(np.max(np.abs(values), initial=0.0))


def _off_by(got: Array, exact: Array, counts: Array) -> float:
    found = got[counts]
    return largest(found - exact[counts]) if np.isfinite(found).all() else inf


def _judged(values: Values, most: float) -> tuple[Array, float, float]:
    """The entries of a row that are judged (they are finite, in the output's type, and as written),
    w, and max|f| there."""
    counts = np.isfinite(values.exact) & (np.abs(values.exact) <= most)
    for way in values.ways:
        counts &= np.isfinite(way)
    own = max((_off_by(way, values.exact, counts) for way in values.ways), default=0.0)
    return counts, own, largest(values.terms[counts & np.isfinite(values.terms)])


def rows_of(rows: Sequence[Values], drawn: Iterable[Values], limits: Limits) -> tuple[Row, ...]:
    """The rows of one output as they are judged; `drawn` are those that m is taken from."""
    epsilon, typical = limits.epsilon, _typical_share(drawn, limits)
    found = []
    for values in rows:
        counts, own, magnitude = _judged(values, limits.most)
        size = max(largest(values.exact[counts]), limits.least)
        total = largest(values.summed[counts & np.isfinite(values.summed)])
        allowed = max(own, typical * epsilon * magnitude, epsilon * max(size, total))
        found.append(Row(values, counts, size, allowed, own, limits.least))
    return tuple(found)


def _typical_share(rows: Iterable[Values], limits: Limits) -> float:
    """m: the median of w/(eps*|f|) over the rows that have terms; 0 if there are none."""
    judged = (_judged(values, limits.most) for values in rows)
    against = [(own, limits.epsilon * magnitude) for _, own, magnitude in judged]
    shares = [own / size for own, size in against if size > 0]
    return median(shares) if shares else 0.0


def written_error(rows: Sequence[Row]) -> float:
    """The error of the formula as written on the whole output."""
    return max((r.written for r in rows), default=0.0) / _size(rows)


def sets_standard(rows: Sequence[Row]) -> bool:
    """Whether there is anything to judge, and the formula as written has a digit right on the whole
    output."""
    return any(r.counts.any() for r in rows) and written_error(rows) <= WRONG


def loss(rows: Sequence[Row], got: Sequence[Array], epsilon: float) -> Loss:
    """The digits that a program loses which gives `got` for the rows."""
    off = [r.off_by(y) for y, r in zip(got, rows, strict=True)]
    size, allowed = _size(rows), max((r.error for r in rows), default=0.0)
    base = written_error(rows)
    found = [Loss(max(off, default=0.0) / size, base, _lost(max(off), allowed, epsilon))]
    found += [
        Loss(e / r.size, r.written / r.size, _lost(e, r.error, epsilon))
        for e, r in zip(off, rows, strict=True)
    ]
    return max(found, key=lambda one: one.digits)  # the whole, where all are equal


def _size(rows: Sequence[Row]) -> float:
    return max((r.size for r in rows), default=0.0) or 1.0


def _lost(off: float, allowed: float, epsilon: float) -> float:
    """Between 0 and the digits of the type."""
    if not off > allowed:
        return 0.0
    lost = log10(off) - log10(allowed) if off < inf and allowed else inf
    return min(lost, -log10(epsilon))
