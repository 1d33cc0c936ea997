"""Relax.   S or L over X  =  S or L over X' around X, if the body is 0 on X' without X."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import affine_rows
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
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


RELAX = Rule(
    name="relax",
    formula=(
        "sum[i](f(i)) = sum[j](f(j)) where i in a:b, j in c:d, c <= a, b <= d, f(i) = "
        "where(c <= i < a or b <= i < d, 0, f(i))"
    ),
    conditions="the body is 0 on X' without X",
    choices="windows of odd extent grow by one; rules that split extend ranges by themselves",
    exactness="exact",
    assumes_no_nan="unless the body is one factor: 0 times a value outside of X comes in",
    source="EinNet, OSDI'23, boundary relaxing",
    propose=propose,
    examples=(
        Example(
            "{L[h:0:8] S[r:0:5] A[h+r-2]*K[r]}",
            "{L[i:0:8] S[j:0:6] A[i+j-2]*K[j]}",
            sizes={"A": (8,)},
        ),
    ),
    refusals=(
        Refusal(
            "{L[h:0:4] S[r:0:3] A[h+r]}",
            ReindexSums((Row(0, ((1, 1),)),), (Row(0, ((1, 1),)),), (Range(0, 4),)),
            "not shown to be 0",
            sizes={"A": (8,)},
        ),
    ),
)
