"""Exponential.   exp(a + b)  =  exp(a)*exp(b),  in both directions."""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.exponential import Exponential, exponents_of
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Add, Mul, Scope
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """The terms under an exp that use fewer iterators than the others, by the iterators they use;
    all exps of a product at once."""
    for position, term in enumerate(walk(scope.body)):
        if isinstance(term, Mul):
            exps = tuple(p for p, factor in enumerate(term.factors) if exponents_of(factor))
            if len(exps) > 1:
                yield Exponential(position, exps)
        for argument in exponents_of(term):
            if isinstance(argument, Add):
                for free in dict.fromkeys(part.free for part in argument.terms):
                    parts = [p for p, part in enumerate(argument.terms) if part.free == free]
                    if free != argument.free:
                        yield Exponential(position, tuple(parts))


EXPONENTIAL = Rule(
    name="exponential",
    formula="exp(a + b) = exp(a)*exp(b)",
    conditions=(
        "no infinite number takes part; in floating point, exp(a) may overflow or vanish where "
        "exp(a + b) does not"
    ),
    choices="terms over fewer iterators than the whole sum; all exps of a product",
    exactness="cancels",
    assumes_no_nan="always: exp(a)*exp(b) may be inf*0 where exp(a + b) is finite",
    source="functional equation of the exponential",
    propose=propose,
    examples=(
        Example(
            "{L[i:0:4,e:0:5] S[j:0:6] exp(A[i] + B[j])*V[j,e]}",
            "{L[i:0:4,j:0:5] S[k:0:6] V[k,j]*exp(A[i])*exp(B[k])}",
        ),
        Example("{L[i:0:4,j:0:5] exp(A[i,j])*exp(-B[j])}", "{L[i:0:4,j:0:5] exp(A[i,j] - B[j])}"),
    ),
    refusals=(
        Refusal("{L[i:0:4] exp(A[i])}", Exponential(0, (0,)), "neither exp of a sum"),
        Refusal("{L[i:0:4] tanh(A[i] + B[i])}", Exponential(0, (0,)), "neither exp of a sum"),
        Refusal("{L[i:0:4] exp(A[i] + B[i])}", Exponential(0, (0, 1)), "both exps need"),
        Refusal("{L[i:0:4] exp(A[i])*B[i]}", Exponential(0, (0, 1)), "not several exps"),
        Refusal(
            "{L[i:0:4] exp(A[i] - inf)}", Exponential(0, (0,)), "an infinite number takes part"
        ),
    ),
    laws=("exp-sum",),
)
