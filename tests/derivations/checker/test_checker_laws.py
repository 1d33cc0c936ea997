"""Steps by laws that the checker must refuse: each is false, or says nothing, in one place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from einderive.derivations.checker import not_shown
from einderive.derivations.checker.witness import by_fold
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.law import ByLaw
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import with_tensors
from einderive.ta.ir.subst import children
from einderive.ta.notation.parse import parse

RANGES = {"i": (0, 4), "k": (0, 3), "j": (0, 2)}
SHAPES = {"A": (4,), "B": (4,), "P": (4,), "X": (4, 3)}


def scope(text: str, loops: str = "i", size: int = 4) -> Scope:
    """{L[i] text}; of positive P."""
    used = {
        name: shape for name, shape in SHAPES.items() if f"{name}[" in text or f"{name}{{" in text
    }
    said = "assume P > 0; " if "P" in used else ""
    ranges = {name: RANGES[name] for name in "ikj" if f"{name}" in loops or f"[{name}]" in text}
    (root,) = parse(f"{said}Y[{','.join(loops)}] = {text}", used, "float32", ranges).roots()
    return root if size == 4 else make_scope([(0, size)], (), root.body)


def by_law(law: str, *parts: str, term: int = 0, equation: int = 0, backwards: int = 0) -> ByLaw:
    """With the parts' texts, a factor of 1 and no rest."""
    found = tuple(map(scope, (*parts, "1", "0")))
    return ByLaw(term, law, equation, backwards, found)


SHOWN = [
    ("exp(log(P[i]))", "P[i]", by_law("exp-log", "P[i]")),
    ("log(exp(A[i]))*B[i]", "A[i]*B[i]", by_law("log-exp", "A[i]", term=2)),
    ("max(A[i],-A[i])", "abs(A[i])", by_law("max-opposite", "A[i]")),
    ("max(-A[i],A[i])", "abs(A[i])", by_law("max-opposite", "A[i]")),
    ("A[i]^6/A[i]^4", "A[i]^2", by_law("power-quotient", "6", "4", "A[i]")),
    ("exp(A[i])*exp(B[i])", "exp(A[i]+B[i])", by_law("exp-sum", "A[i]", "B[i]", backwards=1)),
    ("A[i]", "log(exp(A[i]))", by_law("log-exp", "A[i]", backwards=1)),
    ("asin(-sin(A[i]))", "-asin(sin(A[i]))", by_law("asin-odd", "sin(A[i])")),
]
REFUSED = [
    ("exp(log(P[i]))", "2*P[i]", by_law("exp-log", "P[i]"), "different"),
    ("exp(log(A[i]))", "A[i]", by_law("exp-log", "A[i]"), "is not known: x > 0"),
    ("exp(log(P[i-1]))", "P[i-1]", by_law("exp-log", "P[i-1]"), "is not known: x > 0"),
    ("sqrt(A[i])^2", "A[i]", by_law("sqrt-power", "A[i]"), "is not known: x >= 0"),
    ("log(exp(A[i]))", "B[i]", by_law("log-exp", "B[i]"), "is not the term"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp", "A[i]", term=1), "is not the term"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp", "A[i]", term=3), "a term that is not there"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp", "A[i]", term=-3), "a term that is not there"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp", "A[i]", equation=1), "no law"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp", "A[i]", equation=-1), "no law"),
    ("log(exp(A[i]))", "A[i]", by_law("log", "A[i]"), "no law"),
    ("4*A[i]", "A[i]", by_law("sum-constant", "A[i]"), "no law"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp", "A[i]", "B[i]"), "each letter"),
    ("log(exp(A[i]))", "A[i]", by_law("log-exp"), "each letter"),
    ("A[i]+1", "A[i]+sin(B[i])^2+cos(B[i])^2", by_law("pythagoras", backwards=1, term=1), "letter"),
    ("log(A[i]^2)", "2*log(A[i])", by_law("log-power", "2", "A[i]"), "is not known: x > 0"),
    (
        "sqrt(P[i])",
        "pow(P[i],0.5)",
        by_law("sqrt-even-power", "1/2", "P[i]"),
        "a number of the text",
    ),
    (
        "pow(A[i],B[i])/pow(A[i],P[i])",
        "pow(A[i],B[i]-P[i])",
        by_law("power-quotient", "B[i]", "P[i]", "A[i]"),
        "a number of the text",
    ),
    (
        "log(exp(A{fill=inf}[i-1]))",
        "A{fill=inf}[i-1]",
        by_law("log-exp", "A{fill=inf}[i-1]"),
        "infinite",
    ),
    (
        "A[i]^3+A[i]^5",
        "A[i]^5*(A[i]^(-2)+1)",
        by_law("horner", "3", "5", "A[i]", equation=3),
        "is not known: m > n",
    ),
]


@pytest.mark.parametrize(("before", "after", "witness"), SHOWN)
def test_a_law_is_shown(before: str, after: str, witness: ByLaw) -> None:
    assert not_shown(scope(before), scope(after), witness) is None


@pytest.mark.parametrize(("before", "after", "witness", "reason"), REFUSED)
def test_what_no_law_says_is_refused(before: str, after: str, witness: ByLaw, reason: str) -> None:
    found = not_shown(scope(before), scope(after), witness)
    assert found is not None
    assert reason in found


def test_what_stands_for_a_letter_is_over_all_iterators() -> None:
    before, after, witness = SHOWN[0]
    shorter = make_scope([(0, 3)], (), witness.parts[0].body)
    other = replace(witness, parts=(shorter, *witness.parts[1:]))
    assert "other ranges" in str(not_shown(scope(before), scope(after), other))
    summed = scope("sum[k](X[i,k])")
    other = replace(witness, parts=(*witness.parts[:2], summed))
    assert "other ranges" in str(not_shown(scope(before), scope(after), other))


def test_laws_of_real_and_of_complex_numbers() -> None:
    """log(exp(z)) is no z for z = 4j.  The exponential law is proved for complex numbers as well,
    and that of conjugates is about them."""
    for law, letters, text, shown in (
        ("log-exp", ["Z[i]"], ("log(exp(Z[i]))", "Z[i]"), False),
        ("exp-sum", ["Z[i]", "W[i]"], ("exp(Z[i]+W[i])", "exp(Z[i])*exp(W[i])"), True),
        ("conj-sum", ["Z[i]", "W[i]"], ("conj(Z[i]+W[i])", "conj(Z[i])+conj(W[i])"), True),
    ):
        before, after, *parts = (_complex(each) for each in (*text, *letters, "1", "0"))
        reason = not_shown(before, after, ByLaw(0, law, 0, 0, tuple(parts)))
        assert reason is None if shown else "about real numbers" in str(reason), law


def test_a_maximum_of_complex_numbers_is_left_alone() -> None:
    """They have no order; by real parts, 1 + 4j is larger than 1/2, and exp(1 + 4j) is smaller."""
    before, after = map(_ordered_complex, ("max[k](exp(Z[k]))", "exp(max[k](Z[k]))"))
    (operand,) = children(before.body)
    fold = replace(FOLD, parts=(make_scope(before.domain, (), operand),))
    assert not_shown(before, after, fold) == "complex numbers have no order"


def _complex(text: str) -> Scope:
    used = {name: (4,) for name in "ZW" if f"{name}[" in text}
    (root,) = parse(f"Y[i] = {text}", used, "complex128", {"i": (0, 4)}).roots()
    return root


def _ordered_complex(text: str) -> Scope:
    """What the notation refuses of complex numbers: made from the scope over real ones."""
    (root,) = parse(f"Y[i] = {text}", {"Z": (4,)}, "float64", {"i": (0, 4)}).roots()
    return with_tensors(root, lambda t: expr.tensor(t.name, t.shape, "complex128"))


MAX = "max[k](exp(X[i,k]))"
OF_MAX = "exp(max[k](X[i,k]))"
X = make_scope([(0, 4), (0, 3)], (), scope("X[i,k]", "ik").body)
OUTSIDE = make_scope([(0, 4), (0, 3)], (), scope("X{fill=inf}[i,k-1]", "ik").body)
SUMMED = make_scope([(0, 4), (0, 3)], [(0, 2)], scope("X[i,k]*A[j]", "ikj").body)
FOLD = FoldByLaw("exp-monotone", 0, (X,))
SCALED = (
    make_scope([(0, 4), (0, 3)], (), scope("X[i,k]", "ik").body),
    make_scope([(0, 4), (0, 3)], (), scope("P[i]").body),
)


def test_a_function_leaves_a_maximum() -> None:
    assert not_shown(scope(MAX), scope(OF_MAX), FOLD) is None
    fold = FoldByLaw("max-scaled", 0, SCALED)
    assert not_shown(scope("max[k](P[i]*X[i,k])"), scope("P[i]*max[k](X[i,k])"), fold) is None


@pytest.mark.parametrize(
    ("before", "after", "witness", "reason"),
    [
        (MAX, "2*exp(max[k](X[i,k]))", FOLD, ""),
        (MAX, "exp(min[k](X[i,k]))", FOLD, ""),
        ("sum[k](exp(X[i,k]))", "exp(sum[k](X[i,k]))", FOLD, "nothing of this"),
        ("min[k](exp(X[i,k]))", "exp(min[k](X[i,k]))", FOLD, "nothing of this"),
        ("max[k](tanh(X[i,k]))", "tanh(max[k](X[i,k]))", FOLD, "the left side"),
        ("max[k](cos(X[i,k]))", "cos(max[k](X[i,k]))", replace(FOLD, law="cos"), "no law"),
        (MAX, OF_MAX, replace(FOLD, equation=2), "no law"),
        (MAX, OF_MAX, replace(FOLD, equation=-1), "no law"),
        (MAX, OF_MAX, replace(FOLD, law="max-same"), "nothing of this"),
        (MAX, OF_MAX, replace(FOLD, law="log-exp"), "nothing of this"),
        (MAX, OF_MAX, replace(FOLD, parts=(X, X)), "each letter"),
        (MAX, OF_MAX, replace(FOLD, parts=(scope("A[i]"),)), "other ranges"),
        (MAX, OF_MAX, replace(FOLD, parts=(SUMMED,)), "other ranges"),
        ("exp(A[i])", "exp(A[i])+1", FOLD, "nothing of this"),
        (
            "max[k](exp(X{fill=inf}[i,k-1]))",
            "exp(max[k](X{fill=inf}[i,k-1]))",
            replace(FOLD, parts=(OUTSIDE,)),
            "infinite",
        ),
        (
            "max[k](P[i]*X[i,k])",
            "X[i,0]*P[i]",
            FoldByLaw("max-scaled", 0, (SCALED[1], SCALED[0])),
            "depends on it",
        ),
        (
            "max[k](log(X[i,k]))",
            "log(max[k](X[i,k]))",
            replace(FOLD, law="log-increases"),
            "is not known: a > 0",
        ),
        (
            "max[k](A[i]*X[i,k])",
            "A[i]*max[k](X[i,k])",
            FoldByLaw("max-scaled", 0, (X, make_scope([(0, 4), (0, 3)], (), scope("A[i]").body))),
            "is not known: c >= 0",
        ),
    ],
)
def test_what_no_law_says_of_a_reduction_is_refused(
    before: str, after: str, witness: FoldByLaw, reason: str
) -> None:
    found = not_shown(scope(before), scope(after), witness)
    assert found is not None
    assert reason in found


def test_a_maximum_of_nothing_is_left_alone() -> None:
    """It is -inf, and exp of a maximum of nothing 0."""
    body = scope("exp(X[i,k])", "ik").body
    for sums in ((), ((0, 0),)):
        before = make_scope([(0, 4)], sums, body if sums else scope("exp(A[i])").body, "max")
        box = (*before.loops, *before.sums)
        part = make_scope(box, (), scope("X[i,k]", "ik").body if sums else scope("A[i]").body)
        found = by_fold(before, replace(FOLD, parts=(part,)))
        assert found == ("nothing is reduced" if sums else "the law says nothing of this reduction")
