"""Reals with more digits than float64, where the platform has them.

NumPy's long double has 64 bits of mantissa on x86 (three decimal digits more than float64) and is
float64 elsewhere; then a float64 program is judged by float64.  erf and gelu have float64's digits
here.  The values of programs in float64 are computed with it, so that their own rounding is seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from einderive.ta.exact.fields import Array, RealField
from einderive.ta.ir.node import Number


@dataclass(frozen=True)
class ExtendedField(RealField):
    """NumPy's long double in place of float64."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.longdouble)

    def constant(self, value: Number) -> Array:
        if not isinstance(value, Fraction):
            return np.full((), value, dtype=np.longdouble)
        above, below = (np.longdouble(str(n)) for n in (value.numerator, value.denominator))
        return np.full((), above / below, dtype=np.longdouble)
