"""Scalar identities and near misses from textbooks and handbooks, for `equivalent`.

The lists were made before any work on them.  Pairs may be added, and none may be removed.

Not here: the comparison (`frontend.equality`).  May be imported by `frontend.bench` and the tools.
"""

from __future__ import annotations

from einderive.frontend.identities import (
    arcs,
    bases,
    branches,
    chains,
    exponentials,
    hyperbolic,
    order,
    powers,
    rational,
    signs,
    statistics,
    sums,
    trigonometry,
    whole,
)
from einderive.frontend.identities.entry import Pair
from einderive.frontend.identities.undecided import UNDECIDED

FAMILIES = {
    "exponentials and logarithms": exponentials,
    "powers and roots": powers,
    "maximum, minimum, monotone functions": order,
    "absolute value, sign, relu": signs,
    "trigonometric and hyperbolic functions": trigonometry,
    "factoring, common denominators, interpolation, Horner": rational,
    "sums in closed form": sums,
    "inverse trigonometric functions": arcs,
    "hyperbolic functions and their inverses": hyperbolic,
    "floors, ceilings, truncation": whole,
    "logarithms of other bases, real exponents": bases,
    "chains of max, min, clip, relu, leaky_relu": chains,
    "values that conditions choose": branches,
    "statistics, shifts of softmax and log-sum-exp": statistics,
}
EQUAL: tuple[Pair, ...] = tuple(pair for family in FAMILIES.values() for pair in family.EQUAL)
UNEQUAL: tuple[Pair, ...] = tuple(pair for family in FAMILIES.values() for pair in family.UNEQUAL)

__all__ = ["EQUAL", "FAMILIES", "UNDECIDED", "UNEQUAL", "Pair"]
