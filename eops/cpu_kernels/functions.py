"""All functions that kernels have, by their names in the notation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from einderive.eops.cpu_kernels.avx512.elements import (
    exponential_within,
    near_vectors,
    short_vectors,
    vector_elements,
)
from einderive.eops.cpu_kernels.avx512.registers import has_vectors
from einderive.eops.cpu_kernels.words.composed import composed
from einderive.eops.cpu_kernels.words.elements import elements
from einderive.eops.cpu_kernels.words.error_functions import error_functions
from einderive.eops.cpu_kernels.words.hyperbolic import hyperbolic
from einderive.eops.cpu_kernels.words.machine import Written
from einderive.eops.cpu_kernels.words.powers import powers
from einderive.eops.cpu_kernels.words.quotients import near_quotients, quotients
from einderive.eops.cpu_kernels.words.short_elements import short_elements
from einderive.eops.cpu_kernels.words.simple_elements import simple, truths
from einderive.eops.cpu_kernels.words.texts import texts
from einderive.eops.cpu_kernels.words.trigonometric import inverses, near, trigonometric
from einderive.eops.cpu_kernels.words.whole_elements import whole_elements
from einderive.ta.listing import beside

ERRORS: Final[Mapping[str, Mapping[str, tuple[float, float]]]] = beside(__name__)
"""The largest errors of functions, in units in the last place: float32, float64."""


def largest_error(name: str, dtype: str, vectors: bool = True, near: bool = False) -> float | None:
    """|found - exact| in units in the last place, at most; None of functions that are exact, or
    whose error is one of their operands."""
    single = dtype == "float32"
    table = ERRORS["near" if near else "plain"]
    if vectors and has_vectors():
        table = {**table, **ERRORS["near_vectors" if near else "vectors"]}
    return table[name][not single] if name in table else None


@cache
def near_by(dtype: str, vectors: bool = True) -> Mapping[str, Written]:
    """Functions in a form that is valid up to a size of the operands, and for each of them
    `far_...`, which is 1 where an operand is larger, else 0."""
    if dtype in ("int64", "int32"):
        return {}
    found = {**near(dtype), **near_quotients(dtype)}
    return {**found, **(near_vectors(dtype) if vectors else {})}


@cache
def functions(dtype: str, vectors: bool = True, short: bool = False) -> Mapping[str, Written]:
    """For float32, float64, int64 or int32; with `vectors`, in the form for this processor; `short`
    where float32 holds numbers that come from 16 bits and are rounded to them."""
    if dtype in ("int64", "int32"):
        return {**whole_elements(dtype), **truths()}
    found = {**elements(dtype), **error_functions(dtype), **simple(dtype), **truths()}
    for family in (trigonometric, inverses, hyperbolic, powers, quotients, texts, short_elements):
        found |= family(dtype)
    if vectors:
        found |= vector_elements(dtype)
    if vectors and short and dtype == "float32":
        found |= short_vectors()
    fine = exponential_within(dtype) if vectors and not short else None
    return {**composed(dtype, found["exp"], fine or found["exp"], found["log1p"]), **found}
