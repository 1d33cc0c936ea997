"""Gathers and scatters: stages of which most terms are 0, and the few terms that are evaluated."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from einderive.ta.exact.one_term import one_term
from einderive.ta.exact.scattered import scattered
from einderive.ta.ir.node import Apply, Node, Scope, Select
from einderive.ta.ir.subst import stages


class Direct(NamedTuple):
    """A gather or a scatter.  `fixed` maps each iterator that an equality fixes to its value;
    `body` is the rest of the terms."""

    fixed: dict[int, Node]
    body: Node


def direct(scope: Scope) -> Direct | None:
    """The scope as a gather or a scatter, which need not be computed term by term; None for any
    other scope."""
    if scope.sums and isinstance(scope.body, Apply | Select):
        found = one_term(scope) or scattered(scope)
        if found is not None:
            return Direct(*found)
    return None


def computed_points(*roots: Scope) -> int:
    """The iteration points that are computed of all scopes that are reachable from the roots: of a
    gather or a scatter those with the terms that are evaluated."""
    return sum(map(computed, stages(*roots)))


def interpreted_points(*roots: Scope) -> int:
    """The same as the interpreter computes them, which visits all terms of a scatter."""
    gathers_apart = (
        computed(stage) if _is_gather(stage) else prod(stage.extents) for stage in stages(*roots)
    )
    return sum(gathers_apart)


def _is_gather(stage: Scope) -> bool:
    return bool(stage.sums) and isinstance(stage.body, Apply | Select) and bool(one_term(stage))


def computed(stage: Scope) -> int:
    """Those of one scope."""
    found = direct(stage)
    fixed = () if found is None else found.fixed
    return prod(extent for place, extent in enumerate(stage.extents) if place not in fixed)
