"""Law.   exp(log(a)) = a,   sqrt(a^2) = |a|:  a law of a function that can only help."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.ta.facts.instances import instance
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """Every term that is the left side of a law."""
    for position, term in enumerate(walk(scope.body)):
        if instance(term, scope.domain) is not None:
            yield ByLaw(position)


LAW = Rule(
    name="law",
    formula="log(exp(a)) = a\nsqrt(a^2) = abs(a)\nexp(log(a)) = a\nsqrt(a)^2 = a",
    conditions=(
        "what the law requires of a is known from its form, or promised by `assume`: a > 0 for "
        "exp(log(a)), a >= 0 for sqrt(a)^2"
    ),
    choices="every term that is the left side of a law that says that it helps",
    exactness="reassociates",
    assumes_no_nan="log(exp(a)) and sqrt(a^2), where exp(a) or a^2 overflows or vanishes",
    source="laws.md; Abramowitz and Stegun, 4.1 and 3.7",
    propose=propose,
    examples=(
        Example(
            {"A": (4, 3), "B": (3,)},
            "{L[i:0:4] S[j:0:3] log(exp(A[i,j]))*B[j]}",
            "{L[i:0:4] S[j:0:3] A[i,j]*B[j]}",
        ),
        Example(
            {"A": (6,), "B": (6,)},
            "{L[i:0:6] B[i] + sqrt(A[i]^2)}",
            "{L[i:0:6] abs(A[i]) + B[i]}",
        ),
        Example(
            {"A": (6,)},
            "{L[i:0:6] exp(log(exp(A[i]) + 1))}",
            "{L[i:0:6] exp(A[i]) + 1}",
        ),
    ),
    refusals=(
        Refusal({"A": (4,)}, "{L[i:0:4] exp(log(A[i]))}", ByLaw(0), "what it requires is open"),
        Refusal({"A": (4,)}, "{L[i:0:4] exp(2*A[i])}", ByLaw(0), "no law has this term"),
    ),
    proved=("exp-log", "log-exp", "sqrt-power", "sqrt-square"),
)
