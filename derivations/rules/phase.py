"""Phase.   i = d*q + p: a stride or dilation d becomes d dense problems."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from einderive.derivations.proposing import (
    affine_rows,
    divisors,
    split_loop,
    split_loop_in_place,
    split_reduction,
)
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """For an iterator of coefficient 1 in a row, d is the common coefficient of the row's other
    iterators; for an iterator alone in a `//`, d is the divisor."""
    first = len(scope.loops)
    chosen: dict[tuple[int, int], None] = {}
    for position, n in divisors(scope):
        if n < scope.domain[position].extent:
            if position < first:
                yield split_loop_in_place(scope, position, n)
            else:
                yield split_reduction(scope, position - first, n)
    for row in affine_rows(scope):
        for position, a in row.terms:
            others = [b for i, b in row.terms if i != position]
            step = gcd(*others) if others else 0
            if abs(a) == 1 and 1 < step < scope.domain[position].extent:
                chosen[position, step] = None
    for position, step in chosen:
        if position < first:
            yield split_loop(scope, position, step)
        else:
            yield split_reduction(scope, position - first, step)


PHASE = Rule(
    name="phase",
    formula=(
        "{L[i:a:b] f(i)} = {L[i:a:b] {L[q:0:(b-a+d-1)//d,p:0:d] "
        "f(a+d*q+p)}[(i-a)//d,(i-a)%d]} where 0 < d\n"
        "sum[i](f(i)) = sum[q,p](f(a+d*q+p)) where i in a:b, q in 0:(b-a+d-1)//d, p in 0:d, "
        "0 < d, f(i) = where(b <= i < b+d-1, 0, f(i))"
    ),
    conditions=(
        "any d > 1; the last block is completed by points that nothing reads, or where the body is"
        " 0"
    ),
    choices="the common coefficient of the other iterators of a row; the divisor of a //",
    exactness="exact",
    assumes_no_nan=(
        "where a sum's last block is completed and the body is not one factor: 0 times a value "
        "outside comes in"
    ),
    source="space to depth; EinNet, variable substitution",
    propose=propose,
    examples=(
        Example(
            "{L[m:0:12,w:0:3] S[k:0:4] A[m,k]*B[m+4*w-4,k]}",
            "{L[i:0:12,j:0:3] {L[k:0:3,l:0:4,j:0:3] S[m:0:4] "
            "A[4*k+l,m]*B[4*k+l+4*j-4,m]}[i//4,i%4,j]}",
            sizes={"B": (12, 4)},
        ),
        Example(
            "{L[h:0:4] S[r:0:3] A[2*h+r]*K[r]}",
            "{L[i:0:4] S[j:0:2,k:0:2] A[2*i+j+2*k]*K[j+2*k]}",
            sizes={"A": (9,)},
        ),
    ),
    refusals=(
        Refusal(
            "{L[m:0:12,w:0:3] A[m]*B[m+4*w-4]}",
            ReindexLoops(
                (Row(0, ((0, 4), (1, 1))), Row(0, ((2, 1),))),
                (
                    Row(0, (), ((Row(0, ((0, 1),)), 4, 1),)),
                    Row(0, ((0, 1),), ((Row(0, ((0, 1),)), 4, -4),)),
                    Row(0, ((1, 1),)),
                ),
                (Range(0, 2), Range(0, 4), Range(0, 3)),
            ),
            "not shown to be 0",
            sizes={"B": (12,)},
        ),
    ),
)
