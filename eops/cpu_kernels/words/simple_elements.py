"""Comparisons, roundings and other functions of a few instructions, for loops."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from einderive.eops.cpu_kernels.words.machine import (
    Written,
    absolute,
    compiled,
    root,
    rounded_down,
    rounded_even,
    rounded_to_zero,
    rounded_up,
)

INSTRUCTIONS: Final[Mapping[str, Written]] = {
    "sqrt": root,
    "abs": absolute,
    "floor": rounded_down,
    "ceil": rounded_up,
    "trunc": rounded_to_zero,
    "round": rounded_even,
}
"""Functions of one instruction."""


@cache
def simple(dtype: str) -> Mapping[str, Written]:
    """The functions by their names in the notation, for float32 or float64."""
    real = np.float32 if dtype == "float32" else np.float64
    return {**INSTRUCTIONS, **_pieces(real), **_constants(real)}


@cache
def truths() -> Mapping[str, Written]:
    """The conditions on numbers (isnan and so on), for numbers of every type."""
    infinity = math.inf

    @compiled
    def less(x: Any, y: Any) -> Any:
        return x < y

    @compiled
    def less_equal(x: Any, y: Any) -> Any:
        return x <= y

    @compiled
    def equal(x: Any, y: Any) -> Any:
        return x == y

    @compiled
    def not_equal(x: Any, y: Any) -> Any:
        return x != y

    @compiled
    def isnan(x: Any) -> Any:
        return x != x

    @compiled
    def isinf(x: Any) -> Any:
        return (x == infinity) | (x == -infinity)

    @compiled
    def isfinite(x: Any) -> Any:
        return (x > -infinity) & (x < infinity)

    return {
        "less": less,
        "less_equal": less_equal,
        "equal": equal,
        "not_equal": not_equal,
        "isnan": isnan,
        "isinf": isinf,
        "isfinite": isfinite,
    }


def _pieces(real: type) -> dict[str, Written]:
    zero, one, infinity = real(0), real(1), real(math.inf)

    @compiled
    def rsqrt(x: Any) -> Any:
        return one / root(x)

    @compiled
    def relu(x: Any) -> Any:
        return zero if x < zero else x

    @compiled
    def sign(x: Any) -> Any:
        return one if x > zero else -one if x < zero else x

    @compiled
    def finite(x: Any) -> Any:
        return x if absolute(x) < infinity else zero

    @compiled
    def maximum(x: Any, y: Any) -> Any:
        return x if x >= y or x != x else y

    @compiled
    def minimum(x: Any, y: Any) -> Any:
        return x if x <= y or x != x else y

    return {
        "rsqrt": rsqrt,
        "relu": relu,
        "sign": sign,
        "finite": finite,
        "maximum": maximum,
        "minimum": minimum,
    }


def _constants(real: type) -> dict[str, Written]:
    pi, nothing = real(math.pi), real(math.nan)

    @compiled
    def circle() -> Any:
        return pi

    @compiled
    def no_number() -> Any:
        return nothing

    return {"pi": circle, "nan": no_number}
