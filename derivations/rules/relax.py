"""Relax.   S or L over X  =  S or L over X' around X, if the body is 0 on X' without X."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """A window of odd extent grows by one, so that it can be halved."""
    first = len(scope.loops)
    for index, bound in enumerate(scope.sums):
        position = first + index
        compound = any(r.coefficient(position) and len(r.terms) > 1 for r in affine_rows(scope))
        if compound and bound.extent % 2 and scope.reducer == "sum":
            rows = tuple(affine.iterator(first + s) for s in range(len(scope.sums)))
            ranges = list(scope.sums)
            ranges[index] = Range(bound.lo, bound.hi + 1)
            yield ReindexSums(rows, rows, tuple(ranges))


RELAX = Rule(**stated(__name__), propose=propose)
