"""The judgement of a program on a family of inputs, by the accuracy that is asked for.

    normwise       digits lost on each row and on the whole <= 1          (`accuracy.digits`)
    fast           error(program) <= 4*error(written) + 16*eps*max|f|/max|r|; where a step can
                   cancel, the digits lost are measured and reported, and refuse nothing
    componentwise  error(program) <= 4*error(written) + 16*eps,  error(y) = max_i |y_i-r_i|/|f|_i

The factor max|f|/max|r| says how much larger the terms are than their sum: no order of summation
can guarantee less than eps*|f| (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd
ed., SIAM 2002, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log10

import numpy as np

from einderive.frontend.accuracy import digits
from einderive.frontend.accuracy.accept import accepted
from einderive.frontend.accuracy.inputs.families import Family
from einderive.frontend.accuracy.levels import Accuracy

CLOSE = 4.0
"""The largest error over that of the formula as written, if sizes of terms are allowed for."""


@dataclass(frozen=True, slots=True)
class FamilyError:
    """The errors of a program on one family of inputs.

    They are its error and that of the formula as written, measured as the accuracy says; the
    decimal digits that it loses, 0 if it is as exact; whether that is accepted; and whether the
    formula as written has a digit right there (`standard`).
    """

    family: str
    error: float
    written: float
    digits: float
    accepted: bool
    standard: bool = True

    @property
    def refusal(self) -> str:
        """The reason why the program was refused on this family."""
        lost = f"{self.digits:.1f} digits lost" if self.digits >= 1 else "too large an error"
        return (
            f"{lost} on inputs with {self.family}: error {self.error:.1e}, "
            f"that of the formula as written is {self.written:.1e}"
        )


@dataclass(frozen=True, slots=True)
class Standard:
    """One family's inputs (`positive`: their absolute values), and for each output its rows."""

    family: Family
    positive: bool
    rows: tuple[tuple[digits.Row, ...], ...]


def judged(
    standard: Standard, got: Sequence[Sequence[digits.Array]], accuracy: Accuracy, unit: float
) -> FamilyError:
    """The judgement of a program's outputs, rows of each, by the standard."""
    name = standard.family.name
    judging = [digits.sets_standard(rows) for rows in standard.rows]
    if not any(judging):
        return FamilyError(name, 0.0, 0.0, 0.0, True, False)
    found = []
    for rows, values, counts in zip(standard.rows, got, judging, strict=True):
        if counts and accuracy == "componentwise":
            found.append(_componentwise(name, rows, values, unit))
        elif counts:
            found.append(_normwise(name, rows, values, accuracy, unit))
    return max(found, key=lambda one: (not one.accepted, one.digits, one.error))


def _normwise(
    name: str,
    rows: Sequence[digits.Row],
    got: Sequence[digits.Array],
    accuracy: Accuracy,
    unit: float,
) -> FamilyError:
    lost = digits.loss(rows, got, unit)
    if accuracy != "fast":
        fine = lost.digits <= digits.MOST_LOST
        return FamilyError(name, lost.error, lost.written, lost.digits, fine)
    size = max(row.size for row in rows)
    condition = max(1.0, max(digits.largest(row.values.terms) for row in rows) / size)
    off = max(r.off_by(y) for y, r in zip(got, rows, strict=True)) / size
    fine = accepted(off, digits.written_error(rows), unit, condition, CLOSE)
    return FamilyError(name, lost.error, lost.written, lost.digits, fine)


def _componentwise(
    name: str, rows: Sequence[digits.Row], got: Sequence[digits.Array], unit: float
) -> FamilyError:
    """The largest |y - r|/|f|, and the digits lost of the results, which may be small beside |f|.
    An entry of which |f| is not finite has no such error."""

    def most(values: Iterable[digits.Array]) -> float:
        return max(
            digits.largest((y / np.maximum(r.values.terms, r.least))[counts])
            for y, r, counts in zip(values, rows, known, strict=True)
        )

    def off(values: Sequence[digits.Array]) -> float:
        if not all(np.isfinite(y[r.counts]).all() for y, r in zip(values, rows, strict=True)):
            return float("inf")
        return most(y - r.values.exact for y, r in zip(values, rows, strict=True))

    known = [r.counts & np.isfinite(r.values.terms) for r in rows]
    share = most(np.maximum(np.abs(r.values.exact), r.least) for r in rows)
    ways = zip(*(row.values.ways for row in rows), strict=True)
    own, base = off(got), max(off(way) for way in ways)
    rounding = unit * (min(share, 1.0) or 1.0)
    one, other = (max(e, rounding) / rounding * unit for e in (own, base))
    lost = max(0.0, log10(min(one, 1.0) / min(other, 1.0)))
    return FamilyError(name, own, base, lost, accepted(own, base, unit, factor=CLOSE))
