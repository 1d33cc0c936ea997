"""Expand.   (a + b)*c  =  a*c + b*c;   (a - b)^2  =  a^2 - 2*a*b + b^2."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.expand import Expand
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Add, Mul, Power, Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """Every body with a product that has a sum among its factors, or with a positive power of a
    sum."""
    for term in walk(scope.body):
        if isinstance(term, Mul) and any(isinstance(f, Add | Power) for f in term.factors):
            yield Expand()
            return
        if isinstance(term, Power) and term.exponent > 1 and isinstance(term.base, Add):
            yield Expand()
            return


EXPAND = Rule(
    name="expand",
    formula="(a - b)^2 = a^2 - 2*a*b + b^2\n(a + b)*c = a*c + b*c",
    conditions="the result has at most 64 terms; no number and no fill in the body is infinite",
    choices="none",
    exactness="cancels",
    assumes_no_nan="unless all terms are integers: inf*(a + b) becomes inf*a + inf*b",
    source="ring axioms",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}",
            "{L[i:0:4,j:0:5] S[k:0:3] -2*A[i,k]*B[j,k] + A[i,k]^2 + B[j,k]^2}",
        ),
    ),
    refusals=(
        Refusal("{S[k:0:4] A[k]^2}", Expand(), "nothing to multiply out"),
        Refusal(
            "{L[k:0:4] A{fill=inf}[k-1]*(2 - B[k])}",
            Expand(),
            "an infinite number takes part",
            sizes={"A": (4,)},
        ),
    ),
)
