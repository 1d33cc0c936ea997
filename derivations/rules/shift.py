"""Shift.   i = j + c."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import replace_loop, replace_reduction
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every iterator whose range does not begin at 0."""
    first = len(scope.loops)
    for position, bound in enumerate(scope.domain):
        if bound.lo:
            this, target = affine.iterator(position), Range(0, bound.extent)
            row, new = affine.shift(this, bound.lo), affine.shift(this, -bound.lo)
            if position < first:
                yield replace_loop(scope, position, row, new, target)
            else:
                yield replace_reduction(scope, position - first, row, new, target)


SHIFT = Rule(
    name="shift",
    formula=(
        "sum[i](f(i)) = sum[j](f(j+c)) where i in c:d, j in 0:d-c\n"
        "{L[i:c:d] f(i)} = {L[i:c:d] {L[j:0:d-c] f(j+c)}[i-c]}"
    ),
    conditions="any integer c",
    choices="the start of the range",
    exactness="exact",
    assumes_no_nan="",
    source="EinNet, OSDI'23, variable substitution",
    propose=propose,
    examples=(
        Example("{L[i:0:4] S[j:-1:2] A[i+j+1]}", "{L[i:0:4] S[j:0:3] A[i+j]}", sizes={"A": (8,)}),
        Example("{L[i:-2:4] A[i+2]}", "{L[i:-2:4] {L[j:0:6] A[j]}[i+2]}", sizes={"A": (8,)}),
    ),
    refusals=(
        Refusal(
            "{L[i:0:4] S[j:-1:2] A[i+j+1]}",
            ReindexSums((Row(-1, ((1, 1),)),), (Row(1, ((1, 1),)),), (Range(0, 2),)),
            "not shown to be 0",
            sizes={"A": (8,)},
        ),
    ),
)
