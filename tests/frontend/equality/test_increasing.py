"""Functions that increase leave maxima and comparisons: what is shown so is true of numbers, and
what decreases, or increases in part, is not shown."""

from __future__ import annotations

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.equality import increasing
from einderive.frontend.equality.increasing import simplified
from einderive.frontend.equality.numbers import is_number
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from tests.amount import sampled

ARGMAX, ARGMIN = "Y = argmax[i](A[i])", "Y = argmin[i](A[i])"
EQUAL = [
    ("Y = argmax[i](exp(A[i]))", ARGMAX),
    ("Y = argmax[i](softmax[i](A[i]))", ARGMAX),
    ("Y = argmax[i](log_softmax[i](A[i]))", ARGMAX),
    ("Y = argmax[i](sigmoid(A[i]))", ARGMAX),
    ("Y = argmax[i](tanh(3*A[i] - 1))", ARGMAX),
    ("Y = argmax[i](2*A[i] + 1)", ARGMAX),
    ("Y = argmax[i](A[i] + B[0])", ARGMAX),
    ("Y = argmin[i](exp(-A[i]))", ARGMAX),
    ("Y = argmax[i](-A[i])", ARGMIN),
    ("Y = argmin[i](5 - 2*A[i])", ARGMAX),
    ("assume A > 0\nY = argmax[i](log(A[i]))", ARGMAX),
    ("assume A >= 0\nY = argmax[i](sqrt(A[i]))", ARGMAX),
    ("Y[i] = where(exp(A[i]) < exp(B[i]), A[i], B[i])", "Y[i] = where(A[i] < B[i], A[i], B[i])"),
    ("Y[i] = where(-2*A[i] < 4, 1, B[i])", "Y[i] = where(-2 < A[i], 1, B[i])"),
    ("Y = any[i](A[i] > 0)", "Y = max[i](A[i]) > 0"),
    ("Y = any[i](A[i] >= 1)", "Y = max[i](A[i]) >= 1"),
    ("Y = any[i](A[i] < B[0])", "Y = min[i](A[i]) < B[0]"),
    ("Y = any[i](A[i] <= 0)", "Y = min[i](A[i]) <= 0"),
    ("Y = all[i](A[i] > 0)", "Y = min[i](A[i]) > 0"),
    ("Y = all[i](A[i] >= 1)", "Y = min[i](A[i]) >= 1"),
    ("Y = all[i](A[i] < B[0])", "Y = max[i](A[i]) < B[0]"),
    ("Y = all[i](2*A[i] - 1 <= 3)", "Y = max[i](A[i]) <= 2"),
    ("Y[j] = any[i](A[i] > B[j])", "Y[j] = max[i](A[i]) > B[j]"),
    ("Y = max[i](A[i]^2)", "Y = max[i](abs(A[i]))^2"),
    ("Y = min[i](2*A[i]^4 + 1)", "Y = 2*min[i](A[i]^2)^2 + 1"),
    ("Y = max[i](A[i]^3)", "Y = max[i](A[i])^3"),
    ("Y = max[i](exp(A[i])^2)", "Y = exp(max[i](A[i]))^2"),
    ("Y = max[i](4*B[i] - 2*A[i])", "Y = 2*max[i](2*B[i] - A[i])"),
    ("Y = min[i](B[i] - A[i])", "Y = -max[i](A[i] - B[i])"),
]
"""Formulas over A[i] and B[i] that are equal wherever both have a value."""
UNEQUAL = [
    ("Y = argmax[i](exp(-A[i]))", ARGMAX),
    ("Y = argmax[i](-A[i])", ARGMAX),
    ("Y = argmax[i](A[i]^2)", ARGMAX),
    ("Y = argmax[i](abs(A[i]))", ARGMAX),
    ("Y = argmax[i](A[i]*B[0])", ARGMAX),
    ("Y = argmax[i](A[i] + B[i])", ARGMAX),
    ("Y = argmax[i](where(0 < A[i], A[i], 0))", ARGMAX),
    ("Y[i] = where(-2*A[i] < 4, 1, B[i])", "Y[i] = where(2 < A[i], 1, B[i])"),
    ("Y[i] = where(exp(A[i]) < B[i], 1, 0)", "Y[i] = where(A[i] < B[i], 1, 0)"),
    ("Y = any[i](A[i] > 0)", "Y = min[i](A[i]) > 0"),
    ("Y = all[i](A[i] > 0)", "Y = max[i](A[i]) > 0"),
    ("Y = all[i](A[i] > 0)", "Y = any[i](A[i] > 0)"),
    ("Y = any[i](A[i] == 0)", "Y = max[i](A[i]) == 0"),
    ("Y = any[i](A[i] > B[i])", "Y = max[i](A[i]) > B[0]"),
    ("Y = max[i](A[i]^2)", "Y = max[i](A[i])^2"),
    ("Y = min[i](A[i]^3)", "Y = min[i](abs(A[i]))^3"),
    ("Y = max[i](A[i]^-2)", "Y = max[i](abs(A[i]))^-2"),
    ("Y = max[i](B[i] - A[i])", "Y = -max[i](A[i] - B[i])"),
]
NOT_ASSUMED = [
    ("Y = argmax[i](log(A[i]))", ARGMAX),
    ("Y = argmax[i](sqrt(A[i]))", ARGMAX),
]
"""The condition of the law is not known."""
NO_NUMBERS = [
    ("Y = any[i](log(A[i]) > 0)", "Y = max[i](log(A[i])) > 0"),
    ("Y = all[i](log(A[i]) > 0)", "Y = min[i](log(A[i])) > 0"),
    ("Y = any[i](A[i] > sqrt(B[0]))", "Y = max[i](A[i]) > sqrt(B[0])"),
    ("Y = max[i](where(isnan(log(A[i])), 0, A[i]))", "Y = max[i](A[i])"),
    (
        "Y[i] = where(A[i] + log(B[i]) < log(B[i]), 1, 0)",
        "Y[i] = where(A[i] < 0, 1, 0)",
    ),
    ("Y[i] = where(log(A[i]) < log(A[i]) + B[i], 1, 0)", "Y[i] = where(0 < B[i], 1, 0)"),
    ("Y = argmin[i](A[i] + log(B[0]))", ARGMIN),
    ("Y[i] = where(A[i]*B[i]^-2 < 2*B[i]^-2, 1, 0)", "Y[i] = where(A[i] < 2, 1, 0)"),
]
"""Both sides may have values where a term has none, and then they differ: NaN > 0 is false."""


def sizes(text: str, extent: int) -> dict[str, tuple[int, ...]]:
    return {name: (extent,) for name in ("A", "B") if f"{name}[" in text}


@sampled(6)
@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal_formulas_are_shown_to_be_equal_at_any_size(left: str, right: str) -> None:
    for extent in (3, 200):
        given = sizes(left + right, extent)
        found = ed.equivalent(left, right, **given)
        assert found.kind in ("proved", "evaluated", "identical"), found
    roots = [ed.parse(side, **sizes(side, 3)).roots()[0] for side in (left, right)]
    if "assume" not in left:
        assert simplified(roots[0]).root is simplified(roots[1]).root


@pytest.mark.parametrize(("left", "right"), UNEQUAL + NOT_ASSUMED)
def test_others_do_not_become_the_same(left: str, right: str) -> None:
    roots = [ed.parse(side, **sizes(side, 3)).roots()[0] for side in (left, right)]
    assert simplified(roots[0]).root is not simplified(roots[1]).root


@sampled(2)
@pytest.mark.parametrize(("left", "right"), NO_NUMBERS)
def test_comparisons_of_what_may_be_no_number(left: str, right: str) -> None:
    assert not ed.equivalent(left, right, **sizes(left + right, 3))
    if "^-2" in left:
        return  # not 0 is no assumption by bounds
    assumed = "assume " + ", ".join(f"{name} > 0" for name in sizes(left, 3) if f"({name}[" in left)
    assert ed.equivalent(f"{assumed}\n{left}", right, **sizes(left + right, 3))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("exp(A[i])/(1 + A[i]^2)", True),
        ("1/exp(A[i])", True),
        ("log(exp(A[i]) + 1)", True),
        ("sqrt(A[i]^2)", True),
        ("rsqrt(A[i]^2 + 1)", True),
        ("log(A[i])", False),
        ("sqrt(A[i])", False),
        ("rsqrt(A[i]^2)", False),
        ("1/A[i]", False),
        ("1/A[i-1]", False),
        ("1/log(A[i])", False),
        ("sqrt(log(A[i])^2)", False),
        ("lgamma(exp(A[i]))", False),
        ("B[i] + log(exp(A[i]))", True),
        ("B[i] + A{fill=inf}[i-1]", False),
        ("sum[k](exp(A[k]))/max[k](exp(A[k]))", True),
        ("sum[k](log(A[k]))", False),
        ("A[i] + inf", False),
    ],
)
def test_terms_that_are_numbers(text: str, number: bool) -> None:
    (root,) = ed.parse(
        f"Y[i] = {text} where i in 0:4", **sizes(text.replace("{fill=inf}", ""), 4)
    ).roots()
    assert is_number(root.body, root.domain) == number


@sampled(4)
@pytest.mark.parametrize(("left", "right"), UNEQUAL)
def test_unequal_formulas_are_different(left: str, right: str) -> None:
    assert ed.equivalent(left, right, **sizes(left + right, 3)).kind == "different"


@sampled(2)
@pytest.mark.parametrize("text", sorted({side for pair in EQUAL + UNEQUAL for side in pair}))
def test_what_is_left_has_the_values_of_the_formula(text: str) -> None:
    """Entries are quarters, so that no two that differ become equal by rounding."""
    root = ed.parse(text, **sizes(text, 5)).roots()[0]
    after = simplified(root).root
    generator = np.random.default_rng(7)
    least = 0.25 if "assume" in text else -2.0
    for _ in range(20):
        data = {name: generator.integers(int(4 * least), 9, 5) / 4 for name in ("A", "B")}
        values = [evaluate(each, data, RealField()) for each in (root, after)]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


NEAREST = "Y[i] = argmin[j](sum[k]((A[i,k] - B[j,k])^2))"


@sampled(6)
@pytest.mark.parametrize(
    ("other", "equal"),
    [
        ("argmin[j](sum[k](B[j,k]^2) - 2*sum[k](A[i,k]*B[j,k]))", True),
        ("argmax[j](sum[k](A[i,k]*B[j,k]) - sum[k](B[j,k]^2)/2)", True),
        ("argmin[j](norm[k](A[i,k] - B[j,k]))", True),
        ("argmin[j](sum[k](A[i,k]^2) - 2*sum[k](A[i,k]*B[j,k]))", False),
        ("argmax[j](sum[k](A[i,k]*B[j,k]))", False),
        ("argmax[j](sum[k](A[i,k]*B[j,k]) - sum[k](B[j,k]^2))", False),
    ],
)
@pytest.mark.parametrize("extent", [4, 40])
def test_the_nearest_row_by_products(other: str, equal: bool, extent: int) -> None:
    """The square of A[i] is the same for all rows of B, and leaves the minimum."""
    found = ed.equivalent(NEAREST, f"Y[i] = {other}", A=(3, extent), B=(extent, extent))
    assert found.kind == ("proved" if equal else "different")


def test_a_greatest_number_of_none_is_no_power() -> None:
    """max of nothing is -inf, and its square inf."""
    for extent, kind in ((0, "different"), (3, "proved")):
        found = ed.equivalent("Y = max[i](A[i]^2)", "Y = max[i](abs(A[i]))^2", A=(extent,))
        assert found.kind == kind


def test_without_laws_nothing_is_shown() -> None:
    assert ed.equivalent(EQUAL[0][0], ARGMAX, laws=(), A=(3,)).kind == "undecided"


def test_a_large_program_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    root = ed.parse(EQUAL[0][0], A=(3,)).roots()[0]
    monkeypatch.setattr(increasing, "MOST_STAGES", 1)
    assert simplified(root) == (root, ())


def test_an_assumption_beside_an_iterator_as_a_value() -> None:
    """Iterators are read as a tensor that no caller gives, and nothing is assumed of it."""
    left, right = "assume A > 0\nY[i] = i*A[i]*A[i]", "Y[i] = i*A[i]^2"
    assert ed.equivalent(left, right, A=(4,)).kind in ("identical", "evaluated", "proved")
