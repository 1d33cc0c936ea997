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
from einderive.frontend.identities.entry import Entry, Pair, joined
from einderive.frontend.identities.undecided import UNDECIDED

FAMILIES: dict[str, Entry] = {
    "exponentials and logarithms": joined(exponentials.PAIRS),
    "powers and roots": joined(powers.PAIRS),
    "maximum, minimum, monotone functions": joined(order.PAIRS),
    "absolute value, sign, relu": joined(signs.PAIRS),
    "trigonometric and hyperbolic functions": joined(trigonometry.PAIRS),
    "factoring, common denominators, interpolation, Horner": joined(rational.PAIRS),
    "sums in closed form": joined(sums.PAIRS),
    "inverse trigonometric functions": joined(arcs.PAIRS),
    "hyperbolic functions and their inverses": joined(hyperbolic.PAIRS),
    "floors, ceilings, truncation": joined(whole.PAIRS),
    "logarithms of other bases, real exponents": joined(bases.PAIRS),
    "chains of max, min, clip, relu, leaky_relu": joined(chains.PAIRS),
    "values that conditions choose": joined(branches.PAIRS),
    "statistics, shifts of softmax and log-sum-exp": joined(statistics.PAIRS),
}
EQUAL, UNEQUAL = joined(tuple(FAMILIES.values()))

__all__ = ["EQUAL", "FAMILIES", "UNDECIDED", "UNEQUAL", "Pair"]
