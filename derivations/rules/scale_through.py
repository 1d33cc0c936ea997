"""Scale.   relu(c*a) = c*relu(a) for c > 0;   abs(c*a) = abs(c)*abs(a)."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.scale import Scale, scaled
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """Every relu and abs whose operand has a number as a factor."""
    for position, term in enumerate(walk(scope.body)):
        if scaled(term) is not None:
            yield Scale(position)


SCALE_THROUGH = Rule(
    name="scale-through",
    formula=(
        "relu(c*a) = c*relu(a) where 0 < c\n"
        "abs(c*a) = c*abs(a) where 0 < c\n"
        "abs(c*a) = -c*abs(a) where c < 0"
    ),
    conditions="c > 0 for relu; any number c for abs, which gives abs(c)",
    choices="every relu and abs of a multiple",
    exactness="reassociates",
    assumes_no_nan="where terms become equal and cancel: inf - inf becomes 0",
    source="positive homogeneity",
    propose=propose,
    examples=(
        Example("{L[i:0:4] S[k:0:6] relu(3*A[i,k])}", "{L[i:0:4] S[j:0:6] 3*relu(A[i,j])}"),
        Example("{L[i:0:4] abs(-2*A[i])/5}", "{L[i:0:4] 0.4*abs(A[i])}"),
    ),
    refusals=(
        Refusal("{L[i:0:4] relu(-3*A[i])}", Scale(0), "not relu or abs"),
        Refusal("{L[i:0:4] exp(3*A[i])}", Scale(0), "not relu or abs"),
        Refusal("{L[i:0:4] relu(3*A[i])}", Scale(9), "no such sub-term"),
    ),
)
