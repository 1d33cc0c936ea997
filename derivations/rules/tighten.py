"""Tighten.   S or L over X  =  S or L over X' in X, if the body is 0 on X without X'."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.proposing import loops_witness
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.facts.needed import needed
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
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


TIGHTEN = Rule(
    name="tighten",
    formula=(
        "sum[i](f(i)) = sum[j](f(j)) where i in a:b, j in c:d, a <= c, d <= b, f(i) = "
        "where(a <= i < c or d <= i < b, 0, f(i))\n"
        "{L[i:a:b] f(i)} = {L[i:a:b] {L[i:c:d] f(i)}[i]} where f(i) = where(a <= i < c or d "
        "<= i < b, 0, f(i))"
    ),
    conditions="the body is 0 on X without X', because a factor reads outside of its source there",
    choices="the ranges in which all factors read inside of their sources",
    exactness="exact",
    assumes_no_nan="unless the body is one factor: 0 times a value outside of X' is left out",
    source="EinNet, OSDI'23, boundary tightening",
    propose=propose,
    examples=(
        Example("{L[x:-1:7] A[x]^2}", "{L[i:-1:7] {L[i:0:6] A[i]^2}[i]}", sizes={"A": (6,)}),
        Example(
            "{L[h:0:6] S[r:-1:5] A[h+r]*K[r]}",
            "{L[i:0:6] S[j:0:3] A[i+j]*K[j]}",
            sizes={"A": (6,), "K": (3,)},
        ),
    ),
    refusals=(
        Refusal(
            "{S[i:0:6] A[i]}",
            ReindexSums((Row(0, ((0, 1),)),), (Row(0, ((0, 1),)),), (Range(0, 5),)),
            "not shown to be 0",
        ),
        Refusal(
            "{S[i:0:8] exp(A[i])}",
            ReindexSums((Row(0, ((0, 1),)),), (Row(0, ((0, 1),)),), (Range(0, 6),)),
            "not shown to be 0",
            sizes={"A": (6,)},
        ),
        Refusal(
            "{L[x:0:7] A[x]}",
            ReindexLoops((Row(0, ((0, 1),)),), (Row(0, ((0, 1),)),), (Range(1, 6),)),
            "not shown to be 0",
            sizes={"A": (6,)},
        ),
    ),
)
