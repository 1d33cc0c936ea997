"""The functions on vectors of AVX-512, by their names, and two of them:

expm1(x)    2^n * (e^r - 1) + (2^n - 1)
sqrt(x)     s + (x - s^2)*h,    s = sqrt(x) and h = 1/(2*sqrt(x)) to 28 bits; rounded correctly
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, partial
from typing import Final

from einderive.eops.cpu_kernels.avx512 import long_powers
from einderive.eops.cpu_kernels.avx512.angles import ANGLES
from einderive.eops.cpu_kernels.avx512.exponentials import (
    exp,
    exp2,
    exponential,
    fine_exp,
    short,
    short_gelu,
    sigmoid,
    silu,
)
from einderive.eops.cpu_kernels.avx512.hyperbolic import acosh, asinh, atanh, cosh, log1p, sinh
from einderive.eops.cpu_kernels.avx512.logarithms import log, log2, log10
from einderive.eops.cpu_kernels.avx512.long_logarithms import LOGARITHMS
from einderive.eops.cpu_kernels.avx512.pieces import PIECEWISE
from einderive.eops.cpu_kernels.avx512.powers import power
from einderive.eops.cpu_kernels.avx512.registers import Vector, has_vectors, word
from einderive.eops.cpu_kernels.words.machine import Written
from einderive.eops.cpu_kernels.words.short_elements import EXPONENT, LOG2

TO_INTEGER: Final = 1.5 * 2.0**23
"""Beside it, the last bit of a number is 1."""


def expm1(x: Vector) -> Vector:
    moved = x.at_least(-18.0).at_most(89.0)
    n = moved.fused(1 / math.log(2), TO_INTEGER) - TO_INTEGER
    r = n.fused(-LOG2[1], n.fused(-LOG2[0], moved))
    half = n.same(0.5).scaled(n)  # of 2^n, which may lie beyond the numbers
    found = half.fused(r.polynomial(EXPONENT).fused(r * r, r), half - 0.5) * 2.0
    return x.absolute().where("olt", 2.0**-26, x, found)


def sqrt(x: Vector) -> Vector:
    """In half of the time of the machine's own, which is left what is subnormal, 0 or no number."""
    near = x.inverse_root()
    s, h = x * near, near * 0.5
    error = (-s).fused(h, 0.5)
    s, h = s.fused(error, s), h.fused(error, h)
    found = (-s).fused(s, x).fused(h, s)
    edge = x.builder.or_(x.compare("ult", 2.0**-100), x.compare("oeq", math.inf))
    (value,) = x.when_any(edge, lambda: (x.root().value,), (found.value,))
    return Vector(x.builder, value, x.dtype)


EXPONENTIALS: Final = (exp, exp2, sigmoid, silu, expm1, sinh, cosh)
OTHERS: Final = (log, log2, log10, log1p, asinh, acosh, atanh, sqrt)


@cache
def vector_elements(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation; none where the processor lacks AVX-512."""
    if not has_vectors():
        return {}
    if dtype == "float64":
        long = (*LOGARITHMS, exp, exp2, sigmoid, silu)
        found = {formula.__name__: word(formula.__name__, dtype, formula) for formula in long}
        return {**found, "pow": word("pow", dtype, long_powers.power, arity=2)}
    named = {formula.__name__: formula for formula in (*EXPONENTIALS, *OTHERS)} | {**PIECEWISE}
    found = {name: word(name, dtype, formula) for name, formula in named.items()}
    return {**found, "pow": word("pow", dtype, power, arity=2)}


@cache
def exponential_within(dtype: str) -> Written | None:
    """exp as a part of other functions, where that is another one."""
    single = dtype == "float32" and has_vectors()
    return word("fine_exp", dtype, fine_exp) if single else None


@cache
def short_vectors() -> Mapping[str, Written]:
    """Functions of float32 to five digits, for results that are rounded to 16 bits."""
    if not has_vectors():
        return {}
    formulas = {"exp": exponential, "sigmoid": sigmoid, "silu": silu}
    found = {
        name: word(f"short_{name}", "float32", partial(formula, parts=short))
        for name, formula in formulas.items()
    }
    return {**found, "gelu": word("short_gelu", "float32", short_gelu)}


@cache
def near_vectors(dtype: str) -> Mapping[str, Written]:
    """Likewise, for operands that are near."""
    if dtype != "float32" or not has_vectors():
        return {}
    return {name: word(f"near_{name}", dtype, formula) for name, formula in ANGLES.items()}
