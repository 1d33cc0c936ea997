"""Reverse.   i = c - j."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows, replace_reduction
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
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


REVERSE = Rule(
    name="reverse",
    formula="sum[i](f(i)) = sum[j](f(a+b-1-j)) where i in a:b, j in a:b",
    conditions="none",
    choices="reduction iterators with a negative coefficient",
    exactness="reassociates",
    assumes_no_nan="",
    source="EinNet, OSDI'23, variable substitution",
    propose=propose,
    examples=(
        Example(
            "{L[h:0:6] S[r:0:3] A[h-r+2]*K[r]}",
            "{L[i:0:6] S[j:0:3] A[i+j]*K[-j+2]}",
            sizes={"A": (8,)},
        ),
    ),
    refusals=(
        Refusal(
            "{L[h:0:6] S[r:0:3] A[h-r+2]}",
            ReindexSums((Row(3, ((1, -1),)),), (Row(3, ((1, -1),)),), (Range(0, 3),)),
            "not shown to be 0",
            sizes={"A": (8,), "K": (3,)},
        ),
    ),
)
