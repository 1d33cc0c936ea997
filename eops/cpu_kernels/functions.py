"""All functions that kernels have, by their names in the notation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from einderive.eops.cpu_kernels.avx512.elements import near_vectors, vector_elements
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


@cache
def near_by(dtype: str, vectors: bool = True) -> Mapping[str, Written]:
    """Functions in a form that is valid up to a size of the operands, and for each of them
    `far_...`, which is 1 where an operand is larger, else 0."""
    if dtype in ("int64", "int32"):
        return {}
    found = {**near(dtype), **near_quotients(dtype)}
    return {**found, **(near_vectors(dtype) if vectors else {})}


@cache
def functions(dtype: str, vectors: bool = True) -> Mapping[str, Written]:
    """For float32, float64, int64 or int32; with `vectors`, in the form for this processor."""
    if dtype in ("int64", "int32"):
        return {**whole_elements(dtype), **truths()}
    found = {**elements(dtype), **error_functions(dtype), **simple(dtype), **truths()}
    for family in (trigonometric, inverses, hyperbolic, powers, quotients, texts, short_elements):
        found |= family(dtype)
    if vectors:
        found |= vector_elements(dtype)
    return {**found, **composed(dtype, found["exp"], found["log1p"])}
