"""Every condition of the steps by laws: a witness that breaks it alone, and the reason given."""

from __future__ import annotations

import pytest

from einderive.derivations.rules.law import LAW
from einderive.derivations.steps import kernel
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.law import ByLaw
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import with_tensors
from einderive.ta.notation.parse import parse

OVER = "i in 0:6"
WIDE = "i in 0:7"
PAIR = "i in 0:6, k in 0:6"


def scope_of(text: str, dtype: str = "float64") -> Scope:
    """The scope of `Y[...] = ...`, with the assumptions about its names."""
    shapes = {"A": (6,), "B": (6,), "D": (6,), "C": (6, 6), "Q": (6, 6)}
    used = {
        name: shape for name, shape in shapes.items() if f"{name}[" in text or name + "{" in text
    }
    said = ", ".join(f"{name} > 0" for name in used if name == "Q")
    types = {name: dtype if name in "AD" else "float64" for name in used}
    (root,) = parse((f"assume {said}; " if said else "") + text, used, types, {}).roots()
    return root


def of_complex(scope: Scope) -> Scope:
    """The scope over complex tensors, which the notation refuses where an order is needed."""
    return with_tensors(scope, lambda t: expr.tensor(t.name, t.shape, "complex128"))


def terms(over: str, *texts: str, dtype: str = "float64") -> tuple[Scope, ...]:
    loops = ",".join(each.split(" in ")[0] for each in over.split(", "))
    return tuple(scope_of(f"Y[{loops}] = {text} where {over}", dtype) for text in texts)


def by_law(name: str, over: str, *texts: str, equation: int = 0, dtype: str = "float64") -> ByLaw:
    """The law with these terms for its letters, without a factor and a rest."""
    return ByLaw(0, name, equation, 0, terms(over, *texts, "1", "0", dtype=dtype))


def fold(name: str, over: str, *texts: str) -> FoldByLaw:
    return FoldByLaw(name, 0, terms(over, *texts))


EXP = "Y[i] = max[k](exp(C[i,k]))"

REFUSED = [
    (EXP, fold("exp-monotone", PAIR), "other letters"),
    (EXP, fold("exp-monotone", PAIR, "C[i,k]", "C[i,k]"), "other letters"),
    (EXP, fold("exp-monotone", "i in 0:6, k in 0:5", "C[i,k]"), "other letters"),
    ("Y[i] = min[k](exp(C[i,k]))", fold("exp-monotone", PAIR, "C[i,k]"), "is about max"),
    (
        "Y[i] = max[k](Q[i,k]*C[i,k])",
        fold("max-scaled", PAIR, "C[i,k]", "Q[i,k]"),
        "uses a reduction iterator",
    ),
    (
        "Y[i] = max[k](exp(C{fill=inf}[i,k])) where k in 0:7",
        fold("exp-monotone", "i in 0:6, k in 0:7", "C{fill=inf}[i,k]"),
        "an infinite number",
    ),
    ("Y[i] = log(exp(A[i]))", by_law("log-exp", OVER), "another number of letters"),
    ("Y[i] = log(exp(A[i]))", by_law("log-exp", OVER, "A[i]", "A[i]"), "another number of"),
    ("Y[i] = log(exp(A[i]))", by_law("log-exp", "i in 0:5", "A[i]"), "over other ranges"),
    (
        "Y[i] = log(exp(A{fill=inf}[i])) where i in 0:7",
        by_law("log-exp", WIDE, "A{fill=inf}[i]"),
        "an infinite number",
    ),
    (
        "Y[i] = A[i]^6/A[i]^4 where i in 0:7",
        by_law("power-quotient", WIDE, "6", "4", "A[i]"),
        "divides by what is read outside",
    ),
    (
        "Y[i] = where(B[i] < A[i], B[i], A[i])",
        by_law("choice-max", OVER, "A[i]", "B[i]"),
        "not the left side",
    ),
    (
        "Y[i] = floor(A[i] + B[i] + 2)",
        by_law("floor-whole", OVER, "B[i] + 2", "A[i]"),
        "stands for numbers of the text only",
    ),
]


@pytest.mark.parametrize(("text", "witness", "reason"), REFUSED)
def test_refused(text: str, witness: ByLaw | FoldByLaw, reason: str) -> None:
    with pytest.raises(RuleRefused, match=reason):
        kernel.apply(scope_of(text), witness, exact=True)


def test_complex_numbers_have_no_order() -> None:
    part = terms("i in 0:6, k in 0:6", "A[k]+i-i", dtype="complex128")
    with pytest.raises(RuleRefused, match="have no order"):
        kernel.apply(
            of_complex(scope_of("Y[i] = max[k](exp(A[k])) where i in 0:6")),
            FoldByLaw("exp-monotone", 0, part),
            exact=True,
        )


@pytest.mark.parametrize("text", ["max(A[i], -A[i])", "max(-A[i], A[i])"])
def test_operands_of_a_maximum_have_no_order(text: str) -> None:
    scope = scope_of(f"Y[i] = {text}")
    after = kernel.apply(scope, by_law("max-opposite", OVER, "A[i]"), exact=True)
    assert after == scope_of("Y[i] = abs(A[i])")


@pytest.mark.parametrize(
    ("text", "name", "letters", "reason"),
    [
        ("Y[i] = log(exp(A[i]))", "log-exp", ["A[i]"], "about real numbers"),
        ("Y[i] = conj(A[i]*B[i])", "conj-product", ["A[i]", "B[i]"], "about complex numbers"),
    ],
)
def test_a_law_of_real_numbers_and_one_of_complex_numbers(
    text: str, name: str, letters: list[str], reason: str
) -> None:
    """log(exp(x)) is no x for x = 4j; A is complex, B is real."""
    witness = by_law(name, OVER, *letters, dtype="complex128")
    with pytest.raises(RuleRefused, match=reason):
        kernel.apply(scope_of(text, "complex128"), witness, exact=True)


def test_each_is_taken_where_its_numbers_are() -> None:
    kernel.apply(scope_of("Y[i] = log(exp(A[i]))"), by_law("log-exp", OVER, "A[i]"), exact=True)
    witness = by_law("conj-product", OVER, "A[i]", "D[i]", dtype="complex128")
    kernel.apply(scope_of("Y[i] = conj(A[i]*D[i])", "complex128"), witness, exact=True)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("exp(A[i])", True),
        ("log(exp(A[i]))", True),
        ("log(A[i]^2)", False),
        ("sqrt(A[i]^2)", True),
        ("sqrt(A[i])", False),
        ("asin(sin(A[i]))", True),
        ("asin(2*sin(A[i]))", False),
        ("asin(sin(A[i])^2+1/2)", False),
        ("asin(sin(A[i])^2-3/2)", False),
        ("atanh(sin(A[i])^2)", False),
        ("atanh(sin(A[i])^2/2)", True),
        ("A[i]/(1+A[i]^2)", True),
        ("A[i]/B[i]", False),
    ],
)
def test_where_a_term_surely_has_a_value(text: str, whole: bool) -> None:
    """A choice becomes a maximum only where no operand can be NaN for finite inputs."""
    steps = [
        step
        for step in LAW.steps(scope_of(f"Y[i] = where({text} > D[i], {text}, D[i])"))
        if isinstance(step.witness, ByLaw) and step.witness.law == "choice-max"
    ]
    assert bool(steps) is whole
