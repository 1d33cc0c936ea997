"""Shift.   i = j + c."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import replace_iterator
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every iterator whose range does not begin at 0."""
    for position, bound in enumerate(scope.domain):
        if bound.lo:
            this, target = affine.iterator(position), Range(0, bound.extent)
            row, new = affine.shift(this, bound.lo), affine.shift(this, -bound.lo)
            yield replace_iterator(scope, position, row, new, target)


SHIFT = Rule(**stated(__name__), propose=propose)
