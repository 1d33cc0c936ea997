"""Pull.   max[k] (a(k) + c) = max[k] a(k) + c;   max[k] c*a(k) = c*max[k] a(k) for c > 0."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.pull import Pull
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Scope


def propose(scope: Scope) -> Iterator[Witness]:
    """Every max or min.  The kernel decides whether something can leave it."""
    if scope.sums and REDUCERS[scope.reducer].order:
        yield Pull()


PULL_FROM_REDUCER = Rule(
    name="pull-from-reducer",
    formula=(
        "max[k](a(k) + c) = max[k](a(k)) + c\n"
        "max[k](c*a(k)) = c*max[k](a(k)) where 0 < c\n"
        "max[k](c*a(k)) = c*min[k](a(k)) where c < 0\n"
        "min[k](a(k) + c) = min[k](a(k)) + c\n"
        "min[k](c*a(k)) = c*min[k](a(k)) where 0 < c\n"
        "min[k](c*a(k)) = c*max[k](a(k)) where c < 0"
    ),
    conditions="c does not use k; a factor is a number, and a negative one turns max into min",
    choices="all terms without a reduction iterator, or the number that multiplies the body",
    exactness="cancels",
    assumes_no_nan=(
        "unless the term or factor that leaves is a number or an integer: max (f + inf) becomes "
        "(max f) + inf"
    ),
    source="max-plus algebra: addition distributes over max",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:4] max[k:0:6] A[i,k] + b[i]}",
            "{L[i:0:4] {L[i:0:4] max[j:0:6] A[i,j]}[i] + b[i]}",
        ),
        Example("{L[i:0:4] max[k:0:6] -2*A[i,k]}", "{L[i:0:4] -2*{L[i:0:4] min[j:0:6] A[i,j]}[i]}"),
    ),
    refusals=(
        Refusal("{S[k:0:4] A[k] + 1}", Pull(), "only max and min"),
        Refusal("{max[k:0:4] A[k] + A[k]^2}", Pull(), "every term uses"),
        Refusal("{max[k:0:4] A[k]^2}", Pull(), "neither a sum"),
    ),
)
