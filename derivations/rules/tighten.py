"""Tighten.   S or L over X  =  S or L over X' in X, if the body is 0 on X without X'."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import loops_witness
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.facts.needed import needed
from einderive.ta.ir import affine
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every range cut to where all factors can read inside their sources."""
    if scope.reducer != "sum":
        return
    first = len(scope.loops)
    loops = tuple(needed(scope, i) for i in range(first))
    if loops != scope.loops and all(bound.extent for bound in loops):
        same = [affine.iterator(i) for i in range(first)]
        yield loops_witness(scope, same, same, loops)
    sums = tuple(needed(scope, first + s) for s in range(len(scope.sums)))
    if sums != scope.sums and all(bound.extent for bound in sums):
        rows = tuple(affine.iterator(first + s) for s in range(len(sums)))
        yield ReindexSums(rows, rows, sums)


TIGHTEN = Rule(**stated(__name__), propose=propose)
