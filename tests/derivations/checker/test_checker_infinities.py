"""Infinities: nothing is multiplied out or added up that has a value only as it stands."""

from __future__ import annotations

import pytest

import einderive as ed
from derivations.checker import not_shown
from derivations.checker.compare import not_equal
from derivations.kernel import apply
from derivations.restructure import Expand
from ta.errors import RuleRefused
from ta.node import Scope
from ta.parse import parse

SHAPES = {"A": (4,), "B": (4,), "C": (2,)}
DIFFERENT = {
    "a constant beside the entry": (
        "Y[i] = A{fill=-inf}[i-4]*(2-B[i]) where i in 0:4",
        "Y[i] = A{fill=-inf}[i-4]*(1-B[i]) where i in 0:4",
    ),
    "a coefficient": (
        "Y[i] = A{fill=-inf}[i-4]*(A[i]+B[i]) where i in 0:4",
        "Y[i] = A{fill=-inf}[i-4]*(2*A[i]+B[i]) where i in 0:4",
    ),
    "at one place": (
        "Y[i] = A{fill=inf}[i-1]*(2-B[i]) where i in 0:4",
        "Y[i] = A{fill=inf}[i-1]*where(i >= 1, 2-B[i], 1-B[i]) where i in 0:4",
    ),
    "how often an entry is added": (
        "Y[i] = A{fill=inf}[i-4]*sum[k](B[k//2]) where i in 0:4, k in 0:3",
        "Y[i] = A{fill=inf}[i-4]*sum[k](B[k]) where i in 0:4, k in 0:2",
    ),
}
EQUAL = {
    "a factor moved": (
        "Y[i] = A{fill=-inf}[i-4]*B[i] where i in 0:4",
        "T[i] = A{fill=-inf}[i-4] where i in 0:4; Y[i] = B[i]*T[i]",
    ),
    "terms that exclude each other": (
        "Y[i] = A{fill=inf}[i-2]*where(i >= 2, A[i], B[i]) where i in 0:4",
        "Y[i] = where(i >= 2, A[i]*A{fill=inf}[i-2], B[i]*A{fill=inf}[i-2]) where i in 0:4",
    ),
    "two terms where the factor is finite": (
        "Y[i] = A{fill=inf}[i-2]*where(i >= 2, A[i]+B[i], B[i]) where i in 0:4",
        "Y[i] = where(i >= 2, A[i]*A{fill=inf}[i-2] + B[i]*A{fill=inf}[i-2],"
        " B[i]*A{fill=inf}[i-2]) where i in 0:4",
    ),
    "an infinite term times one": (
        "Y[i] = (A[i]+inf)*B[i]",
        "T[i] = A[i]*B[i]; Y[i] = T[i] + inf*B[i]",
    ),
    "a mask of a maximum": (
        "Y[i] = max[k](B[k] + where(k <= i, 0, -inf)) where i in 0:4",
        "T[i,k] = B[k] + where(k <= i, 0, -inf) where i in 0:4, k in 0:4; Y[i] = max[k](T[i,k])",
    ),
}


def shapes_of(text: str) -> dict[str, tuple[int, ...]]:
    return {name: s for name, s in SHAPES.items() if f"{name}[" in text or f"{name}{{" in text}


def scope_of(text: str) -> Scope:
    (root,) = parse(text, shapes_of(text)).roots()
    return root


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_products_with_an_infinity_are_told_apart(left: str, right: str) -> None:
    one, other = scope_of(left), scope_of(right)
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None
    assert not ed.equivalent(left, right, **shapes_of(left + right))


@pytest.mark.parametrize(("left", "right"), EQUAL.values(), ids=EQUAL)
def test_products_with_an_infinity_are_shown_equal(left: str, right: str) -> None:
    assert not_equal(scope_of(left), scope_of(right)) is None


def test_a_stage_that_may_be_infinite_is_no_finite_leaf() -> None:
    """The one has a value everywhere, the other adds inf and -inf: no step leads there."""
    text = "T[i] = A{fill=-inf}[i-4] where i in 0:4; "
    whole, apart = text + "Y[i] = T[i]*(2-B[i])", text + "Y[i] = 2*T[i] - B[i]*T[i]"
    assert not_equal(scope_of(whole), scope_of(apart)) is not None


def test_a_large_one_is_not_proved() -> None:
    left, right = (text.replace("0:4", "0:100000") for text in DIFFERENT["a coefficient"])
    verdict = ed.equivalent(left, right, A=(100000,), B=(100000,))
    assert not verdict


def test_an_infinity_times_a_sum_is_not_expanded() -> None:
    for text, _ in list(DIFFERENT.values())[:3]:
        with pytest.raises(RuleRefused, match="an infinite number"):
            apply(scope_of(text), Expand())


def test_infinities_of_both_signs_are_no_exception() -> None:
    left = "Y[i] = min[k1](-1 + A{fill=inf}[2*k1-2]) - sum[k2](3 + C{fill=inf}[-2*i+k2+2]) "
    right = "Y[i] = -sum[k2](3 + C{fill=inf}[-2*i+k2+2]) + 2*min[k1](-1 + A{fill=inf}[2*k1-2]) "
    clause = "where i in 0:1, k1 in 0:1, k2 in 0:1"
    one, other = scope_of(left + clause), scope_of(right + clause)
    assert not_equal(one, other) is None or "not shown" in str(not_equal(one, other))
    assert isinstance(not_shown(one, other, object()), str | None)


APART, WHOLE = "A{fill=inf}[i-1]*A[i] + A{fill=inf}[i-1]*B[i]", "A{fill=inf}[i-1]*(A[i]+B[i])"


def test_a_sum_of_infinite_terms_may_become_their_product() -> None:
    """Where inf*a + inf*b has a value, inf*(a + b) has the same."""
    one, other = scope_of(f"Y[i] = {APART}"), scope_of(f"Y[i] = {WHOLE}")
    assert not_equal(one, other) is None
    assert not_equal(other, one) is not None


@pytest.mark.parametrize("within", ["exp({})", "1/({} + 1)", "maximum({}, B[i])"])
def test_within_functions_both_sides_keep_their_values(within: str) -> None:
    one, other = (scope_of(f"Y[i] = {within.format(side)}") for side in (APART, WHOLE))
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None
