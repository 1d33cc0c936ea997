"""The functions on vectors of AVX-512, for float32, and two of them:

exp(x)      2^n * t * e^r     x = (n + k/16)*log 2 + r,  t = 2^(k/16),  |r| <= log(2)/32
expm1(x)    2^n * (e^r - 1) + (2^n - 1)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from einderive.eops.cpu_kernels.avx512 import long_powers
from einderive.eops.cpu_kernels.avx512.angles import ANGLES
from einderive.eops.cpu_kernels.avx512.hyperbolic import acosh, asinh, atanh, log1p
from einderive.eops.cpu_kernels.avx512.logarithms import log, log2, log10
from einderive.eops.cpu_kernels.avx512.long_logarithms import LOGARITHMS
from einderive.eops.cpu_kernels.avx512.pieces import PIECEWISE
from einderive.eops.cpu_kernels.avx512.powers import power
from einderive.eops.cpu_kernels.avx512.registers import Vector, has_vectors, word
from einderive.eops.cpu_kernels.words.machine import Written
from einderive.eops.cpu_kernels.words.short_elements import EXPONENT, LOG2

TO_INTEGER: Final = 1.5 * 2.0**23
"""Beside it, the last bit of a number is 1."""
PARTS: Final = 16
ROOTS: Final = tuple(float(np.float32(2.0 ** (k / PARTS))) for k in range(PARTS))
LOST: Final = tuple(2.0 ** (k / PARTS) - root for k, root in enumerate(ROOTS))
"""What the roots of two lose as float32."""
LEAST: Final = -104.0
"""Below it the exponential is 0.  The processor takes 20 times as long for results that it rounds
to 0 itself, as those of masked elements in a softmax."""


def _reduced(x: Vector, shift: float) -> tuple[Vector, Vector, Vector]:
    """n + shift, n and x - n*log 2, with n of as many digits as beside `shift`."""
    moved = x.fused(1 / math.log(2), shift)
    n = moved - shift
    return moved, n, n.fused(-LOG2[1], n.fused(-LOG2[0], x))


def exp(x: Vector) -> Vector:
    return _exponential(x, exact=False)


def fine_exp(x: Vector) -> Vector:
    """With what the table's numbers lose: for sums and quotients, whose error its own adds to."""
    return _exponential(x, exact=True)


def _exponential(x: Vector, exact: bool) -> Vector:
    zero = x.same(0.0)
    near = x.where("olt", LEAST, zero, x).at_most(89.0)
    moved, n, r = _reduced(near, TO_INTEGER / PARTS)
    t = moved.table(ROOTS)
    times, series = t * r, r.polynomial((1.0, 1 / 2, 1 / 6))
    found = times.fused(series, moved.table(LOST)) + t if exact else times.fused(series, t)
    return x.where("olt", LEAST, zero, found.scaled(n))


def expm1(x: Vector) -> Vector:
    _, n, r = _reduced(x.at_least(-18.0).at_most(89.0), TO_INTEGER)
    half = n.same(0.5).scaled(n)  # of 2^n, which may lie beyond the numbers
    found = half.fused(r.polynomial(EXPONENT).fused(r * r, r), half - 0.5) * 2.0
    return x.absolute().where("olt", 2.0**-26, x, found)


FORMULAS: Final = (exp, expm1, log, log2, log10, log1p, asinh, acosh, atanh)


@cache
def vector_elements(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation; none where the processor lacks AVX-512."""
    if not has_vectors():
        return {}
    if dtype == "float64":
        long = (*LOGARITHMS, long_powers.exp)
        found = {formula.__name__: word(formula.__name__, dtype, formula) for formula in long}
        return {**found, "pow": word("pow", dtype, long_powers.power, arity=2)}
    named = {formula.__name__: formula for formula in FORMULAS} | {**PIECEWISE}
    found = {name: word(name, dtype, formula) for name, formula in named.items()}
    return {**found, "pow": word("pow", dtype, power, arity=2)}


@cache
def exponential_within(dtype: str) -> Written | None:
    """exp as a part of other functions, where that is another one."""
    single = dtype == "float32" and has_vectors()
    return word("fine_exp", dtype, fine_exp) if single else None


@cache
def near_vectors(dtype: str) -> Mapping[str, Written]:
    """Likewise, for operands that are near."""
    if dtype != "float32" or not has_vectors():
        return {}
    return {name: word(f"near_{name}", dtype, formula) for name, formula in ANGLES.items()}
