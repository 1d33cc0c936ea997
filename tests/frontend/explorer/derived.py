"""The derivation on which the tests of the explorer look."""

from __future__ import annotations

from functools import cache

from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.api.optimize import derive


@cache
def distances() -> Derivation:
    """Squared distances: the best candidate as given, others with many steps."""
    return derive("Y[i,j] = (A[i,k]-B[j,k])^2", A=(256, 16), B=(256, 16), budget=Budget(states=90))


@cache
def few() -> Derivation:
    """Squared distances with few candidates, for tests that read many records."""
    return derive("Y[i,j] = (A[i,k]-B[j,k])^2", A=(16, 4), B=(16, 4), budget=Budget(states=8))


@cache
def measured() -> CompiledFunction:
    """Squared distances, with few candidates timed for a moment."""
    return distances().compile(seconds=0.02, tried=2)


@cache
def windows() -> Derivation:
    """Sums over windows, of which candidates have few steps and several stages."""
    text = "Y[h,w] = A[h+r,w+s] where r in 0:3, s in 0:3, h in 0:6, w in 0:6"
    return derive(text, A=(8, 8), budget=Budget(states=150))
