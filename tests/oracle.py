"""Whether two scopes are equal, by evaluating both on random data.

    lhs(x) == rhs(x)  at every x of the loops, or at points drawn among them

A difference found is one.  Agreement is strong evidence: residues of two unequal polynomials of
degree d agree at a point with a chance of at most d/2^31.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from einderive.ta.exact.fields import PRIMES, Field, ModularField, random_values
from einderive.ta.exact.interp import evaluate, evaluate_at, input_tensors, uses_order
from einderive.ta.exact.rationals import ExactField
from einderive.ta.ir.node import Number, Scope
from einderive.ta.ir.subst import stages


class Counterexample(NamedTuple):
    """An index point, the two values there, and the data that show it."""

    point: tuple[int, ...]
    left: Number | int
    right: Number | int
    field: Field
    seed: int


def equal(
    lhs: Scope, rhs: Scope, *, seeds: Sequence[int] = (0,), samples: int | None = None
) -> Counterexample | None:
    """`lhs(x) == rhs(x)` for all x on random data: the first difference, or None.

    Modulo two primes, or over the rationals where order matters (max, min, piecewise-linear
    functions, infinities).  Functions are opaque, so an identity that uses a law of exp or log
    shows a false counterexample here: judge it in RealField.  With `samples` only so many random
    points are compared.  Raises ValueError where the loops differ.
    """
    if lhs.loops != rhs.loops:
        raise ValueError(f"the loops differ: {lhs.loops} and {rhs.loops}")
    ordered = any(map(uses_order, stages(lhs, rhs)))
    fields: tuple[Field, ...] = (
        (ExactField(),) if ordered else tuple(ModularField(prime) for prime in PRIMES[:2])
    )
    for field, seed in product(fields, seeds):
        found = difference(lhs, rhs, field, seed, samples)
        if found is not None:
            return found
    return None


def difference(
    lhs: Scope, rhs: Scope, field: Field, seed: int = 0, samples: int | None = None
) -> Counterexample | None:
    """The first point, in order, where two scopes of the same loops differ on random data."""
    data = random_values(input_tensors(lhs, rhs), field, seed)
    size = math.prod(lhs.shape)
    if samples is None or samples >= size:
        positions = np.arange(size)
        left, right = (evaluate(side, data, field).reshape(-1) for side in (lhs, rhs))
    else:
        positions = np.unique(np.random.default_rng(seed).integers(0, size, samples))
        points = [_point(lhs, position) for position in positions]
        left, right = (evaluate_at(side, points, data, field) for side in (lhs, rhs))
    places = np.flatnonzero(field.differs(left, right))
    if not len(places):
        return None
    first = places[0]
    return Counterexample(_point(lhs, positions[first]), left[first], right[first], field, seed)


def _point(scope: Scope, position: int) -> tuple[int, ...]:
    """The index point at a position of the scope's flat box."""
    index = np.unravel_index(position, scope.shape) if scope.loops else ()
    return tuple(int(i) + loop.lo for i, loop in zip(index, scope.loops, strict=True))
