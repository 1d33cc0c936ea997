"""Reverse.   i = c - j."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, replace_reduction
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir import affine
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Reduction iterators that a row holds with a negative coefficient."""
    first = len(scope.loops)
    for index, bound in enumerate(scope.sums):
        if any(row.coefficient(first + index) < 0 for row in affine_rows(scope)):
            mirror = affine.add(
                affine.constant(bound.lo + bound.hi - 1), affine.iterator(first + index), -1
            )
            yield replace_reduction(scope, index, mirror, mirror, bound)


REVERSE = Rule(**stated(__name__), propose=propose)
