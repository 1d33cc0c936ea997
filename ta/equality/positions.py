"""Differences at some positions of programs of any size: corners, borders, and inside."""

from __future__ import annotations

import numpy as np

from einderive.ta.equality.counterexample import ROUNDING, Found, Roots, StrictField, difference_at
from einderive.ta.equality.partial_values import ValuedField, divides
from einderive.ta.equality.primes import digest, primes
from einderive.ta.equality.sign_bounds import opaque_functions
from einderive.ta.exact.fields import Array, Field, ModularField, RealField
from einderive.ta.exact.interp import affordable, input_tensors, uses_order
from einderive.ta.exact.sampled import sampled_values
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages

MOST_SAMPLED = 4_000_000
"""Points visited for a sample of positions."""
MOST_POSITIONS = 256


def sample(left: Roots, right: Roots) -> tuple[Found | None, int]:
    """A difference in numbers that a reader knows, looked for at corners, beside borders and
    inside; and how many positions of each output were looked at."""
    tensors = input_tensors(*left, *right)
    ordered = any(map(uses_order, stages(*left, *right)))
    field: Field = StrictField()
    if not ordered:
        field = _residues(left, right)
    budget = MOST_SAMPLED // 100 if ordered else MOST_SAMPLED
    if opaque_functions(*left, *right):
        field = RealField(ROUNDING)
    fewest = MOST_POSITIONS
    for output, (x, y) in enumerate(zip(left, right, strict=True)):
        chosen = positions(x, affordable([x, y], MOST_POSITIONS, budget))
        fewest = min(fewest, len(chosen))
        if not len(chosen):
            continue
        for seed in (1, 2, 3):
            data = sampled_values(tensors, field, seed)
            found = difference_at((x, y), chosen, data, field)
            if found is not None:
                return found._replace(output=output), fewest
    return None, fewest


def _residues(left: Roots, right: Roots) -> Field:
    field = ModularField(next(primes(digest((*left, *right)))))
    return ValuedField(field) if divides(*left, *right) else field


def positions(scope: Scope, count: int) -> Array:
    """At most `count` positions: corners, positions beside borders, random ones; shape (count,
    loops).  A scalar has one position without coordinates, if any may be looked at."""
    if not scope.loops or not scope.size or not count:
        return np.zeros((min(count, scope.size, 1), len(scope.loops)), dtype=np.int64)
    generator = np.random.default_rng(0)
    low = np.array([r.lo for r in scope.loops], dtype=np.int64)
    high = np.array([r.hi for r in scope.loops], dtype=np.int64)
    rank, drawn = len(low), 2 * count  # small boxes have few corners
    inside = generator.integers(low, high, (drawn, rank))
    chosen = [low, high - 1]
    for kind in range(drawn - 2):
        at_border = generator.integers(0, 2, rank).astype(bool)
        side = generator.integers(0, 2, rank).astype(bool)
        beside = generator.integers(0, 2, rank) * (kind % 3 == 1)
        border = np.where(side, high - 1 - beside, low + beside)
        mixed = border if kind % 3 == 0 else np.where(at_border, border, inside[kind])
        chosen.append(np.clip(mixed, low, high - 1) if kind % 3 < 2 else inside[kind])
    found = np.array(chosen, dtype=np.int64)
    _, first = np.unique(found, axis=0, return_index=True)
    return found[np.sort(first)][:count]
