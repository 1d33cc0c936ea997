"""Gathers in loops: sums of which an equality leaves one term, whose place data say.

    Y[n,d] = sum[v](where(I[n] == v, E[v,d], 0))      Y[n,d] = E[I[n],d] where I[n] in 0:V, else 0

Such an iterator v is no loop of a kernel: its value is computed, and reads at v are loads at a
computed index.
"""

from __future__ import annotations

from functools import lru_cache

from einderive.ta.exact.one_term import OneTerm, one_term
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Node, Scope, Select
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import walk


@lru_cache(maxsize=4096)
def picked(stage: Scope) -> OneTerm | None:
    """What the iterators of a gather equal, and the one term; None for other stages, and where an
    iterator that is fixed has another part than that of an index which never misses."""
    found = one_term(stage)
    if found is None or not all(_is_index(node, stage, found) for node in walk(found.body)):
        return None
    return found


def _is_index(node: Node, stage: Scope, found: OneTerm) -> bool:
    """Whether the fixed iterators stand in this node, if at all, as indices that never miss."""
    fixed = sum(1 << v for v in found.values)
    if isinstance(node, Select):
        return not any(affine.mask(c.row) & fixed for c in node.conditions)
    if not isinstance(node, Access):
        return True
    for row, side in zip(node.rows, node.source.ranges, strict=True):
        if not affine.mask(row) & fixed:
            continue
        low, high = affine.bounds(row, stage.domain)
        in_floors = any(affine.mask(inner) & fixed for inner, _, _ in row.floors)
        if node.source is INDEX or in_floors or low < side.lo or high >= side.hi:
            return False
    return True


def summed(stage: Scope) -> tuple[int, ...]:
    """The iterators over which a stage is really summed."""
    found = picked(stage)
    fixed = found.values if found is not None else {}
    return tuple(i for i in range(len(stage.loops), len(stage.domain)) if i not in fixed)
