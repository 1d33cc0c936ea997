"""Derivations that several tests begin with, each made once: nothing in a derivation changes."""

from __future__ import annotations

from functools import cache
from typing import Any

import einderive as ed

DISTANCES = "Y[i,j] = (A[i,k]-B[j,k])^2"


FEW = ed.Budget(states=500)
"""Enough for a dozen of candidates, where the search itself is not what is tested."""


@cache
def derived(text: str, **options: Any) -> ed.Derivation:
    return ed.derive(text, **{"budget": FEW} | options)
