"""Functions of float32 as polynomials, one for each piece of their domain, on vectors of AVX-512.

    f(x) = c0 + d*(c1 + d*(c2 + ...)),   d = |x| - c      with the sign of x, as f(-x) = -f(x)

Piece 0 is [0, 1/8), with c = 0.  From there on, the first bits of x say which of the four equal
pieces between two powers of two it is.  An instruction takes each coefficient from a table of 32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

import numpy as np

from einderive.eops.cpu_kernels.avx512.registers import Formula, Vector

FIRST: Final = -3
"""Piece 0 ends at 2^FIRST."""
PIECES: Final = 32
SHIFT: Final = 21
"""The bits behind the first two of a fraction."""


def _pieces(
    function: Callable[[float], float], last: float, degree: int
) -> list[tuple[float, ...]]:
    """Of each piece, its middle and the polynomial, which interpolates at Chebyshev's nodes."""
    ends = [0.0, *(2.0 ** (FIRST + k // 4) * (1 + k % 4 / 4) for k in range(PIECES))]
    nodes = np.cos((2 * np.arange(degree + 1) + 1) * np.pi / (2 * (degree + 1)))
    found = []
    for low, high in pairwise(ends):
        middle, half = ((low + high) / 2, (high - low) / 2) if low else (0.0, high)
        values = [function(middle + half * node) for node in nodes]
        scaled = np.linalg.solve(np.vander(nodes, increasing=True), values)
        if not low:
            scaled[::2] = 0.0
            scaled[1] -= half  # x itself is added
        if low >= last:
            scaled[:] = np.round(function(last)), *[0.0] * degree
        found.append((middle, *(c / half**k for k, c in enumerate(scaled))))
    return found


def odd(function: Callable[[float], float], last: float, degree: int) -> Formula:
    """A function with f(-x) = -f(x) that rounds to f(last) beyond `last`."""
    columns = list(zip(*_pieces(function, last, degree), strict=True))

    def formula(x: Vector) -> Vector:
        y = x.absolute().at_most(last)
        first = int(np.float32(2.0**FIRST).view(np.int32)) >> SHIFT
        builder = y.builder
        place = builder.lshr(y.bits(), y.integers(SHIFT))
        place = builder.sub(place, y.integers(first - 1))
        none = y.integers(0)
        place = builder.select(builder.icmp_signed(">", place, none), place, none)
        middle, *coefficients = (y.table(column, place) for column in columns)
        d, found = y - middle, coefficients[-1]
        for c in coefficients[-2:0:-1]:
            found = found.fused(d, c)
        small = y.at_most(2.0**FIRST)
        start = small.where("ogt", coefficients[0], small, coefficients[0])
        return d.fused(found, start).with_sign(x)

    return formula


PIECEWISE: Final[Mapping[str, Formula]] = {
    "tanh": odd(math.tanh, 10.0, 6),
    "erf": odd(math.erf, 4.0, 6),
}
