"""The imaginary unit, whose square is -1; no real number.  Written `1j`, and `2j` is twice it."""

import math

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "1j", lambda: math.nan, arity=0, imaginary=True, latex=r"\mathrm{i}", torch="1j"
)
