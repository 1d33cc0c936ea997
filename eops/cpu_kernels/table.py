"""All functions that kernels have, by their names in the notation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from einderive.eops.cpu_kernels.elements import elements
from einderive.eops.cpu_kernels.error_functions import error_functions
from einderive.eops.cpu_kernels.machine import Written
from einderive.eops.cpu_kernels.simple_elements import simple


@cache
def functions(dtype: str) -> Mapping[str, Written]:
    """For float32 or float64."""
    return {**elements(dtype), **error_functions(dtype), **simple(dtype)}
