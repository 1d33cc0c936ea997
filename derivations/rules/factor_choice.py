"""Factor out of a choice.   where(c, a*b, 0)  =  a*where(c, b, 0)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.rules import materialise
from einderive.derivations.steps.factor import Factor, asked, terms_to_factor
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import branches, factors_of


def propose(scope: Scope) -> Iterator[Witness]:
    """In a sum, the factors that both branches share, if the rest uses fewer iterators.  The rest
    is then an operand of its own, and the sum a contraction (a triangular matrix times another)."""
    body = scope.body
    if not scope.sums or not branches(body):
        return
    terms = [factors_of(term) for term in terms_to_factor(body)]
    for position, common in enumerate(terms[0]):
        others = [f.free for factors in terms for f in factors if f is not common]
        shared = common.free and all(common in factors for factors in terms)
        if shared and others and reduce(or_, others, asked(body)) != body.free:
            yield Factor(position)


FACTOR_CHOICE = Rule(
    name="factor-choice",
    formula=(
        "where(i < n, f(i)*g(i), f(i)*h(i)) = f(i)*where(i < n, g(i), h(i))\n"
        "where(i < n, f(i)*g(i), 0) = f(i)*where(i < n, g(i), 0)\n"
        "where(c, a*b, 0) = a*where(c, b, 0)\n"
        "where(c, a*b, where(d, a*e, 0)) = a*where(c, b, where(d, e, 0))"
    ),
    conditions=(
        "a choice, or choices within each other; all branches have the factor (0 has every "
        "factor), and no number or fill makes it infinite, nor any branch if values decide; beside "
        "a 0, it holds no quotient and no function, and conditions read other inputs than it"
    ),
    choices="the factors that both branches share, in a sum, where the rest uses fewer iterators",
    exactness="reassociates",
    assumes_no_nan="unless the factor is an integer: a branch that is 0 becomes inf*0",
    source="distributivity",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:4,j:0:5] S[k:0:6] where(k < 3, A[k,i]*B[k,j], 0)}",
            "{L[i:0:4,j:0:5] S[k:0:6] A[k,i]*where(k < 3, B[k,j], 0)}",
        ),
        Example(
            "{L[i:0:4,j:0:5] S[k:0:6] where(k < 3, A[k,i]*B[k,j], A[k,i]*C[j])}",
            "{L[i:0:4,j:0:5] S[k:0:6] A[k,i]*where(k < 3, B[k,j], C[j])}",
        ),
        Example(
            "{L[i:0:4,j:0:5] S[k:0:6] where(M[i,k], A[i,k]*B[k,j], 0)}",
            "{L[i:0:4,j:0:5] S[k:0:6] B[k,j]*where(M[i,k], A[i,k], 0)}",
        ),
        Example(
            "{L[i:0:4,j:0:5] S[k:0:4] where(0 < M[k], A[i,k]*B[k,j], where(N[k], C[k]*B[k,j], 0))}",
            "{L[i:0:4,j:0:5] S[k:0:4] B[k,j]*where(0 < M[k], A[i,k], where(N[k], C[k], 0))}",
        ),
    ),
    refusals=(
        Refusal("{S[i:0:4] where(i < 2, A[i], 1)}", Factor(0), "not every term"),
        Refusal(
            "{S[i:0:4] where(i < 2, A[i]/B[i], 0)}",
            Factor(1),
            "may hide where the factor is infinite",
        ),
        Refusal(
            "{S[i:0:4] where(i < 2, A{fill=inf}[i-1]*B[i], 0)}",
            Factor(0),
            "may be infinite",
            sizes={"A": (4,)},
        ),
        Refusal(
            "{L[j:0:3] S[i:0:4] where(isfinite(A[i]), A[i]*B[i,j], 0)}",
            Factor(0),
            "may ask whether the factor is infinite",
        ),
    ),
    opening=True,
    then=(materialise.MATERIALISE,),
)
