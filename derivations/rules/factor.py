"""Factor.   a*b + a*c  =  a*(b + c)."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.factor import Factor
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Add, Scope
from einderive.ta.ir.subst import factors_of


def propose(scope: Scope) -> Iterator[Witness]:
    """Every factor that all terms of the body share."""
    if not isinstance(scope.body, Add):
        return
    first, *rest = (factors_of(term) for term in scope.body.terms)
    for position, common in enumerate(first):
        if common.free and all(common in factors for factors in rest):
            yield Factor(position)


FACTOR = Rule(
    name="factor",
    formula="a*b + a*c = a*(b + c)",
    conditions="every term has the factor, and no number or fill makes it infinite",
    choices="the factors that all terms share",
    exactness="cancels",
    assumes_no_nan="unless the common factor is an integer: inf*a + inf*b becomes inf*(a + b)",
    source="distributivity",
    propose=propose,
    examples=(
        Example(
            "{L[t:0:4,o:0:5] S[i:0:6] X[t,i]*W[o,i] + X[t,i]*D[o,i]}",
            "{L[i:0:4,j:0:5] S[k:0:6] X[i,k]*(D[j,k] + W[j,k])}",
        ),
    ),
    refusals=(
        Refusal("{L[i:0:4] A[i] + B[i]}", Factor(0), "not every term"),
        Refusal(
            "{L[i:0:4] A{fill=inf}[i-1]*B[i] + A{fill=inf}[i-1]*C[i]}",
            Factor(0),
            "may be infinite",
            sizes={"A": (4,)},
        ),
    ),
)
