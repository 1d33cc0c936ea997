"""Scalar identities and near misses from textbooks and handbooks, for `equivalent`.

The lists were made before any work on them.  Pairs may be added, and none may be removed.

Not here: the comparison (`frontend.equality`).  May be imported by `frontend.bench` and the tools.
"""

from __future__ import annotations

from einderive.frontend.identities.entry import Pair, listed

FILES = (
    *("exponentials", "powers", "order", "signs", "trigonometry", "rational", "sums", "arcs"),
    *("hyperbolic", "whole", "bases", "chains", "branches", "statistics"),
)
FAMILIES = tuple(map(listed, FILES))
EQUAL = tuple(pair for family in FAMILIES for pair in family.equal)
UNEQUAL = tuple(pair for family in FAMILIES for pair in family.unequal)

UNDECIDED: frozenset[str] = frozenset()
"""The pairs that `equivalent` does not decide."""

__all__ = ["EQUAL", "FAMILIES", "UNDECIDED", "UNEQUAL", "Pair"]
