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

**t.**  No order of summation can promise an error below eps times its terms' magnitudes (Higham,
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

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log10
from statistics import median
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
WRONG = 0.1
"""The formula as written sets no standard on an output if its error on the whole output is larger:
it then has no digit right."""
MOST_LOST = 1.0
"""Decimal digits that a program may lose by default."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of exact values, and the errors of the formula as written there.

    It has the values, where they count, max|r| (at least `least`, the smallest normal number), the
    error from which lost digits are counted, and w.
    """

    wanted: Array
    counts: Array
    size: float
    error: float
    written: float
    least: float


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


def off_by(got: Array, row_wanted: Array, counts: Array) -> float:
    """max|y - r| over the entries that count.  Infinite if one of them is not finite."""
    found = got[counts]
    if not np.isfinite(found).all():
        return inf
    return largest(found - row_wanted[counts])


def _judged(wanted: Array, written: Sequence[Array], most: float) -> tuple[Array, float]:
    """The entries of a row that are judged (they are finite, in the output's type, and as written),
    and w."""
    counts = np.isfinite(wanted) & (np.abs(wanted) <= most)
    for values in written:
        counts &= np.isfinite(values)
    return counts, max((off_by(way, wanted, counts) for way in written), default=0.0)


def rows_of(
    wanted: Sequence[Array],
    terms: Sequence[Array],
    summed: Sequence[Array],
    written: Sequence[Sequence[Array]],
    typical: float,
    epsilon: float,
    least: float,
    most: float,
) -> tuple[Row, ...]:
    """The rows of one output: `written[e][p]` is row p in the e-th way to accumulate, `terms` are
    |f|, the maxima of `summed` are t, `typical` is m, and `least` and `most` are the limits of the
    output's type."""
    found = []
    for exact, magnitude, total, *ways in zip(wanted, terms, summed, *written, strict=True):
        counts, own = _judged(exact, ways, most)
        size = max(largest(exact[counts]), least)
        usual = typical * epsilon * largest(magnitude[counts & np.isfinite(magnitude)])
        rounding = epsilon * max(size, largest(total[counts & np.isfinite(total)]))
        allowed = max(own, usual, rounding)
        found.append(Row(exact, counts, size, allowed, own, least))
    return tuple(found)


def typical_share(
    wanted: Sequence[Array],
    terms: Sequence[Array],
    written: Sequence[Sequence[Array]],
    epsilon: float,
    most: float,
) -> list[float]:
    """w/(eps*|f|) of each row that has terms; m is the median of these."""
    shares = []
    for exact, magnitude, *ways in zip(wanted, terms, *written, strict=True):
        counts, own = _judged(exact, ways, most)
        against = largest(magnitude[counts & np.isfinite(magnitude)])
        if epsilon * against > 0:
            shares.append(own / (epsilon * against))
    return shares


def middle(shares: Sequence[float]) -> float:
    """The median, 0 if there are no values."""
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
    off = [off_by(y, r.wanted, r.counts) for y, r in zip(got, rows, strict=True)]
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
