"""Reverse.   i = c - j."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, replace_iterator
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir import affine
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Reduction iterators that a row holds with a negative coefficient."""
    for position, bound in enumerate(scope.sums, len(scope.loops)):
        if any(row.coefficient(position) < 0 for row in affine_rows(scope)):
            ends = affine.constant(bound.lo + bound.hi - 1)
            mirror = affine.add(ends, affine.iterator(position), -1)
            yield replace_iterator(scope, position, mirror, mirror, bound)


REVERSE = Rule(**stated(__name__), propose=propose)
