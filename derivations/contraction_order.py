"""In which order to contract a product of many factors: which factors meet, pair by pair.

The order comes from opt_einsum (the optimal one, or dynamic programming beyond that's reach) and is
a proposal only: the steps that follow it are checked like all others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from opt_einsum import get_symbol, paths

from derivations.restructure import factors_of
from ta.node import Scope

MANY_FACTORS = 5
"""From so many factors on, splits and pairs follow the order; with fewer, all are tried."""
MOST_OPTIMAL = 6
"""Up to so many factors every order is compared; outer products are left out beyond."""


def meeting_factors(scope: Scope) -> tuple[frozenset[int], ...]:
    """The groups of factors (positions in the body's product) that a good order brings together,
    the first pair first; none for a product of fewer than `MANY_FACTORS`."""
    if scope.reducer != "sum":
        return ()
    masks = {position: f.free for position, f in enumerate(factors_of(scope.body)) if f.free}
    if len(masks) < MANY_FACTORS:
        return ()
    extents = tuple(r.extent for r in scope.domain)
    groups = _groups(tuple(masks.values()), len(scope.loops), extents)
    places = tuple(masks)
    return tuple(frozenset(places[i] for i in group) for group in groups)


@lru_cache(maxsize=4096)
def _groups(
    masks: tuple[int, ...], loops: int, extents: tuple[int, ...]
) -> tuple[frozenset[int], ...]:
    names = [get_symbol(i) for i in range(len(extents))]
    inputs = [frozenset(n for i, n in enumerate(names) if mask >> i & 1) for mask in masks]
    sizes = dict(zip(names, extents, strict=True))
    search: Any = paths.optimal if len(masks) <= MOST_OPTIMAL else paths.dynamic_programming
    order = search(inputs, frozenset(names[:loops]), sizes)
    waiting = [frozenset([i]) for i in range(len(masks))]
    found = []
    for chosen in order:
        joined = frozenset().union(*(waiting[i] for i in chosen))
        waiting = [group for i, group in enumerate(waiting) if i not in chosen]
        waiting.append(joined)
        found.append(joined)
    return tuple(found)
