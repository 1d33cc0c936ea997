"""How many signs an output depends on: no bound is too small, and the common ones are small."""

from __future__ import annotations

import pytest

from einderive.ta.equality.compare import MOST_SIGNS, compare
from einderive.ta.equality.sign_bounds import Asked, asked
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse

SHAPES = {"a": (), "b": (), "c": (), "x": (5,), "A": (4, 5)}


def roots(text: str) -> tuple[Scope, ...]:
    words = set("".join(c if c.isalnum() else " " for c in text).split())
    return parse(text, {name: shape for name, shape in SHAPES.items() if name in words}).roots()


def bound(left: str, right: str = "0") -> int:
    return asked(roots(f"Y = {left}"), roots(f"Y = {right}")).signs


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("a*b", 0),
        ("exp(a)*max[i](x[i])", 0),
        ("relu(a)", 1),
        ("sum[i](relu(x[i]))", 1),  # linear in the signs, which are independent
        ("sum[i](relu(2*x[i])*relu(x[i+1]))", 2),
        ("relu(a)*relu(b)*relu(c)", 3),
        ("relu(a)^3", 1),  # one question, however often it is answered
        ("abs(abs(a)+abs(b))", 3),
        ("exp(abs(a)+abs(b))", 2),
        ("max[i](abs(x[i]))", 5),
        ("1/(relu(a)+relu(b))", 2),
        ("maximum(a,b)+minimum(a,b)", 1),
        ("sum[i](abs(17*x[i]))", 5),  # one prime of another sign in each draw
        ("sum[i](abs(26*x[i]/7))", 1),
        ("sum[i](abs(x[i]*a*b))", 3),  # three factors, in any combination
        ("sum[i](abs(sum[j](A[j,i])))", 1),
    ],
)
def test_the_bound(text: str, signs: int) -> None:
    assert bound(text) == signs


def test_a_bound_is_that_of_both_sides() -> None:
    assert bound("abs(exp(abs(a)))", "exp(abs(b))") == 3
    assert bound("relu(a)", "relu(b)*relu(c)") == 2


def test_shares_and_degrees() -> None:
    assert Asked(0, 9).share == 1
    assert 0.2 < Asked(2, 1).share < 0.25
    assert Asked(2, 3).independent
    assert not Asked(6, 40).independent
    assert asked(roots("Y = abs(a^7*b)"), roots("Y = a")).degree == 8


def each(count: int, text: str) -> str:
    return "*".join(text.format(i=i) for i in range(count))


RANGES = ", ".join(f"t{i} in 0:2" for i in range(8))
ONCE = ", ".join(f"t{i}" for i in range(8))
INDICATOR = (
    f"sum[{ONCE}](abs({each(8, 'where(t{i} < 1, 1, A[0,0]*x[{i}//2]+{i})')})"
    f"*{each(8, 'where(t{i} < 1, A[0,0]*x[{i}//2]+{i}, 1)')}) where {RANGES}"
)
"""The product of all u+|u|, multiplied out: one sign in a term, and 0 for all but 1 in 256."""


def test_what_is_multiplied_out_is_not_missed() -> None:
    assert bound(INDICATOR) > MOST_SIGNS
    assert not compare(roots(f"Y = {INDICATOR}"), roots("Y = 0")).equal


def test_what_shows_under_all_signs_at_once_is_not_missed() -> None:
    """The differences of exp(max+max+..) in every variable, which are not 0 for 1 in 2^5 signs."""
    terms = "+".join(f"where(t{i} < 1, maximum(x[{i}], A[0,{i}]), A[0,{i}])" for i in range(5))
    signs = each(5, "where(t{i} < 1, 1, -1)")
    ranges = ", ".join(f"t{i} in 0:2" for i in range(5))
    text = f"sum[{ONCE[:18]}]({signs}*exp({terms})) where {ranges}"
    assert bound(text) > MOST_SIGNS
    assert not compare(roots(f"Y = {text}"), roots("Y = 0")).equal
