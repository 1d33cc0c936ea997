"""Distribute.   S[s] (a + b)  =  {S[s] a} + {S[s] b},  and likewise prod, max and min."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.distribute import Distribute, distributes
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every body whose operation is the one that the scope reduces by."""
    if scope.sums and distributes(scope.body, scope.reducer):
        yield Distribute()


DISTRIBUTE = Rule(
    name="distribute",
    formula=(
        "sum[s](a(s) + b(s)) = sum[s](a(s)) + sum[s](b(s))\n"
        "prod[s](a(s)*b(s)) = prod[s](a(s))*prod[s](b(s))\n"
        "max[s](maximum(a(s), b(s))) = maximum(max[s](a(s)), max[s](b(s)))\n"
        "min[s](minimum(a(s), b(s))) = minimum(min[s](a(s)), min[s](b(s)))"
    ),
    conditions=(
        "a sum over terms, a prod over factors (not over a number), max over maximum, min over "
        "minimum"
    ),
    choices="none",
    exactness="cancels",
    assumes_no_nan="where terms become equal scopes that cancel: inf - inf becomes 0",
    source="linearity of summation; associativity and commutativity of prod, max and min",
    propose=propose,
    examples=(
        Example(
            "{L[t:0:4,o:0:5] S[i:0:6] X[t,i]*W[o,i] + X[t,i]*D[o,i]}",
            "{L[i:0:4,j:0:5] {L[i:0:4,j:0:5] S[k:0:6] D[j,k]*X[i,k]}[i,j] + "
            "{L[i:0:4,j:0:5] S[k:0:6] W[j,k]*X[i,k]}[i,j]}",
        ),
        Example(
            "{L[i:0:4] prod[k:0:6] A[i,k]*B[k]}",
            "{L[i:0:4] {L[i:0:4] prod[j:0:6] A[i,j]}[i]*{prod[j:0:6] B[j]}[]}",
        ),
        Example(
            "{L[i:0:4] max[k:0:6] maximum(A[i,k], B[k])}",
            "{L[i:0:4] maximum({L[i:0:4] max[j:0:6] A[i,j]}[i], {max[j:0:6] B[j]}[])}",
        ),
    ),
    refusals=(
        Refusal("{prod[k:0:4] 2*A[k]*B[k]}", Distribute(), "to the power"),
        Refusal("{max[k:0:4] minimum(A[k], B[k])}", Distribute(), "only a sum"),
        Refusal("{max[k:0:4] A[k] + B[k]}", Distribute(), "only a sum"),
    ),
)
