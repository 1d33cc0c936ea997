"""Coefficients of the polynomials that functions are made of, interpolated at Chebyshev's nodes.

Each is listed from the constant on, once with the digits that float32 needs and once for float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from einderive.eops.cpu_kernels.words.machine import Written, compiled, fused
from einderive.ta.listing import beside

DATA = beside(__name__)

SHORT: Final[Mapping[str, Sequence[float]]] = DATA["short"]
LONG: Final[Mapping[str, Sequence[float]]] = DATA["long"]
COEFFICIENTS: Final = {"float32": SHORT, "float64": LONG}
"""In z = x^2: (sin(x)/x - 1)/z and (cos(x) - 1 + z/2)/z^2 for |x| <= pi/4; (asin(x)/x - 1)/z, and
likewise atanh and asinh, for |x| <= 1/2, atan for |x| <= tan(pi/8), sinh for |x| <= 1; for log,
(2 atanh(x)/x - 2 - 2z/3)/z^2 for |x| <= 0.172."""


def polynomial(real: type, coefficients: Sequence[float]) -> Written:
    """c0 + x*(c1 + x*(c2 + ...))."""
    lines = ["def polynomial(x):", f"    y = c{len(coefficients) - 1}"]
    lines += [f"    y = fused(y, x, c{k})" for k in reversed(range(len(coefficients) - 1))]
    space: dict[str, Any] = {f"c{k}": real(c) for k, c in enumerate(coefficients)}
    space["fused"] = fused
    text = "\n".join([*lines, "    return y"])
    exec(text, space)
    space["polynomial"].text = text
    return compiled(space["polynomial"])
