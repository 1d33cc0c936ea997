"""Differences that floating point does not show: the verdict says how far both sides lie apart."""

from __future__ import annotations

import pytest

import einderive as ed

NUMBERS = [
    ("sqrt(2)", "1.41421356237309504880", "1.7e-21"),
    ("pi", "3.14159265358979", "3.2e-15"),
    ("exp(1)", "2.718281828459045", "2.4e-16"),
    ("cos(pi/5)", "0.80901699437", "4.9e-12"),
    ("exp(-10^9)", "0", "e-434294482"),
    ("tanh(50+x^2)", "1", "apart"),
    ("exp(x)+10^-30*sin(1)", "exp(x)", "8.4e-31"),
    ("exp(1j*x)*10^-40", "0", "1.0e-40"),
]


@pytest.mark.parametrize(("left", "right", "by"), NUMBERS)
def test_numbers_that_are_the_same_in_floating_point_differ(left: str, right: str, by: str) -> None:
    shapes = {"x": ()} if "x" in left.replace("exp", "") else {}
    verdict = ed.equivalent(f"Y = {left}", f"Y = {right}", **shapes)
    assert verdict.kind == "different", verdict
    assert verdict.counterexample is not None
    assert by in verdict.counterexample.apart or by in str(verdict)


def test_an_element_is_named() -> None:
    left = "Y[i] = tanh(50+x[i]^2) where i in 0:3"
    verdict = ed.equivalent(left, "Y[i] = 1 where i in 0:3", x=(3,))
    assert str(verdict).startswith("different: Y[0] is 1 on the left, 1 on the right (")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2*atan(exp(x))-pi/2", "atan(sinh(x))"),
        ("floor(x)+floor(-x)", "where(x == floor(x), 0, -1)"),
    ],
)
def test_what_no_digits_tell_apart_stays_undecided(left: str, right: str) -> None:
    assert ed.equivalent(f"Y = {left}", f"Y = {right}", x=()).kind == "undecided"


@pytest.mark.parametrize("assumed", ["assume x >= 0; ", ""])
def test_entries_are_as_assumed(assumed: str) -> None:
    """For x < 0 one side has no value, and nothing is said there."""
    verdict = ed.equivalent(f"{assumed}Y = sqrt(x)+10^-30*sin(1)", "Y = sqrt(x)", x=())
    assert verdict.kind == "different"
    assert verdict.counterexample is not None
    assert verdict.counterexample.entries is not None
    assert all(value >= 0 for _, _, value in verdict.counterexample.entries)
