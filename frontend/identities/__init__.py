"""Scalar identities and near misses from textbooks and handbooks, for `equivalent`.

The lists were made before any work on them.  Pairs may be added, and none may be removed.

Not here: the comparison (`frontend.equality`).  May be imported by `frontend.bench` and the tools.
"""

from __future__ import annotations

from einderive.frontend.identities.entry import Pair, listed
from einderive.frontend.identities.undecided import UNDECIDED

FILES = (
    *("exponentials", "powers", "order", "signs", "trigonometry", "rational", "sums", "arcs"),
    *("hyperbolic", "whole", "bases", "chains", "branches", "statistics"),
)
FAMILIES = tuple(map(listed, FILES))
EQUAL = tuple(pair for family in FAMILIES for pair in family.equal)
UNEQUAL = tuple(pair for family in FAMILIES for pair in family.unequal)

__all__ = ["EQUAL", "FAMILIES", "UNDECIDED", "UNEQUAL", "Pair"]
