"""Law.   exp(log(a)) = a,   a^6/a^4 = a^2,   sum[k](a(k+1)-a(k)) = a(n)-a(m):  a law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from einderive.derivations.closed_sums import closed_sums
from einderive.derivations.instances import HELPING, Laws, folds, instances
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.derivations.steps.sum_by_law import SumByLaw
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.laws import REAL_LAWS


def propose(scope: Scope) -> Iterator[Witness]:
    """Every term, or part of a term, that has the form of the left side of a helping law; every
    max or min whose operand has the form of a law; and every sum over an index that a law closes.
    """
    yield from instances(scope, HELPING)
    yield from folds(scope, HELPING)
    yield from closed_sums(scope, HELPING)


def by_laws(names: frozenset[str]) -> Rule:
    """The rule with these laws besides, each used in both directions."""
    laws = Laws(tuple(name for name in REAL_LAWS if name in names), both=True)

    def propose(scope: Scope) -> Iterator[Witness]:
        yield from instances(scope, HELPING, laws)
        yield from folds(scope, HELPING)
        yield from closed_sums(scope, Laws((*HELPING.names, *laws.names)))

    return replace(LAW, propose=propose, proved=(*LAW.proved, *sorted(names)))


_A = expr.access(expr.tensor("A", (4,)), [affine.iterator(0)])
_PARTS = (make_scope([(0, 4)], (), part) for part in (_A, expr.const(1), expr.const(0)))
_EXP_LOG = ByLaw(0, "exp-log", 0, 0, tuple(_PARTS))
_OF_MAX = FoldByLaw("exp-monotone", 0, (make_scope([(0, 4)], (), _A),))
_DIFFERENCES = SumByLaw("sum-differences", 0, 0, (make_scope([(0, 4)], (), _A),))

LAW = Rule(
    name="law",
    formula=(
        "log(exp(a)) = a\nsqrt(a^2) = abs(a)\nexp(log(a)) = a\nsqrt(a)^2 = a\n"
        "max[k](exp(a(k))) = exp(max[k](a(k)))\n"
        "sum[k](a(k) - b(k)) = a(m) - a(n) where k in m:n, b(k) = a(k+1)"
    ),
    conditions=(
        "the condition of the law is known from the form of a, or from `assume`: a > 0 for "
        "exp(log(a)), a >= 0 for sqrt(a)^2; no divisor is read outside of its source"
    ),
    choices=(
        "every term, or part of a term, that is the left side of a law that can only help; with "
        "`laws=`, the sides of other laws in both directions; operands of max and min; sums over "
        "an index that have a closed form"
    ),
    exactness="reassociates",
    assumes_no_nan=(
        "where exp(a) or a^2 overflows or vanishes, and where the law does not keep NaN and "
        "infinities"
    ),
    source="laws.md, which lists all; Abramowitz and Stegun, 4.1 and 3.7",
    propose=propose,
    examples=(
        Example("{L[i:0:4] S[j:0:3] log(exp(A[i,j]))*B[j]}", "{L[i:0:4] S[j:0:3] A[i,j]*B[j]}"),
        Example("{L[i:0:6] B[i] + sqrt(A[i]^2)}", "{L[i:0:6] abs(A[i]) + B[i]}"),
        Example("{L[i:0:6] exp(log(exp(A[i]) + 1))}", "{L[i:0:6] exp(A[i]) + 1}"),
        Example(
            "{L[i:0:4] max[k:0:6] exp(A[i,k])}", "{L[i:0:4] exp({L[i:0:4] max[j:0:6] A[i,j]}[i])}"
        ),
        Example(
            "{L[i:0:4] S[k:0:6] (A[i,k+1] - A[i,k])}",
            "{L[i:0:4] -A[i,0] + A[i,6]}",
            sizes={"A": (4, 7)},
        ),
    ),
    refusals=(
        Refusal("{L[i:0:4] exp(log(A[i]))}", _EXP_LOG, "is not known"),
        Refusal("{L[i:0:4] exp(2*A[i])}", _EXP_LOG, "not the left side"),
        Refusal("{S[k:0:4] exp(A[k])}", _OF_MAX, "the law is about max"),
        Refusal("{max[k:0:4] tanh(A[k])}", _OF_MAX, "not the function of the law"),
        Refusal(
            "{S[k:0:3] (A[k+1] + A[k])}", _DIFFERENCES, "not the term of the law", sizes={"A": (4,)}
        ),
        Refusal("{max[k:0:3] (A[k+1] - A[k])}", _DIFFERENCES, "a sum over", sizes={"A": (4,)}),
    ),
    proved=HELPING.names,
)
