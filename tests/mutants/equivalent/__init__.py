"""Mutants that change nothing, each with its reason; reviewed by hand, a file for each room.

The key is the function and the texts before and after, so that an entry whose source changes is
reported as stale.  Three sorts: a short way to an answer that the long way gives as well; a case
that the constructors leave no expression for; a bound that has room.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tests.mutants.equivalent import (
    checker,
    cpu_kernels,
    facts,
    features,
    loops,
    matching,
    steps,
    triton_kernels,
)

Key = tuple[str, str, str, str]
"""Module, function, the condition as it is, the condition of the mutant."""

ROOMS = (steps, facts, matching, checker, loops, cpu_kernels, triton_kernels, features)

EQUIVALENT: Mapping[Key, str] = MappingProxyType(
    {
        (module, function, before, after): reason
        for room in ROOMS
        for module, function, before, afters, reason in room.LISTED
        for after in afters
    }
)
