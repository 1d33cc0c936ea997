"""All functions that kernels have, by their names in the notation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from einderive.eops.cpu_kernels.elements import elements
from einderive.eops.cpu_kernels.error_functions import error_functions
from einderive.eops.cpu_kernels.machine import Written
from einderive.eops.cpu_kernels.simple_elements import simple, truths
from einderive.eops.cpu_kernels.whole_elements import whole_elements


@cache
def functions(dtype: str) -> Mapping[str, Written]:
    """For float32, float64 or int64."""
    if dtype == "int64":
        return {**whole_elements(), **truths()}
    return {**elements(dtype), **error_functions(dtype), **simple(dtype), **truths()}
