"""Relax.   S or L over X  =  S or L over X' around X, if the body is 0 on X' without X."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, replace_iterator
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """A window of odd extent grows by one, so that it can be halved."""
    for position, bound in enumerate(scope.sums, len(scope.loops)):
        compound = any(r.coefficient(position) and len(r.terms) > 1 for r in affine_rows(scope))
        if compound and bound.extent % 2 and scope.reducer == "sum":
            same, wider = affine.iterator(position), Range(bound.lo, bound.hi + 1)
            yield replace_iterator(scope, position, same, same, wider)


RELAX = Rule(**stated(__name__), propose=propose)
