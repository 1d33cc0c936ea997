"""Where a body is zero, case by case; each answer checked at every point."""

from __future__ import annotations

import pytest

from einderive.ta.exact.fields import random_values
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.exact.rationals import ExactField
from einderive.ta.facts.zeros import vanishes_outside
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from tests.amount import sampled
from tests.derivations.seeds import read
from tests.fuzz.floats import FloatField

SHAPES: dict[str, tuple[int, ...]] = {"A": (6,), "B": (9,), "C": (6, 6)}
BOX = Range(-3, 9)
LONE = affine.iterator(0)


def row(factor: int, plus: int = 0) -> Row:
    return affine.shift(affine.scale(LONE, factor), plus)


CASES: list[tuple[str, Row, tuple[int, int], bool]] = [
    ("A[i]", LONE, (0, 6), True),
    ("A[i]", LONE, (-1, 7), True),
    ("A[i]", LONE, (1, 6), False),
    ("A[i]", LONE, (0, 5), False),
    ("A[i+1]", LONE, (-1, 5), True),
    ("A[i+1]", LONE, (0, 5), False),
    ("A[i+1]", LONE, (-1, 4), False),
    ("A[2*i]", LONE, (0, 3), True),
    ("A[2*i]", LONE, (0, 2), False),
    ("A[2*i]", LONE, (1, 3), False),
    ("A[9-i]", LONE, (0, 3), False),
    ("A[5-i]", LONE, (0, 6), True),
    ("A[5-i]", LONE, (0, 5), False),
    ("A[5-i]", LONE, (1, 6), False),
    ("A[i]", row(-1, 5), (0, 6), True),
    ("A[i]", row(-1, 5), (0, 5), False),
    ("A[i]", row(-1, 5), (1, 6), False),
    ("A[i]*B[i-2]", LONE, (2, 6), True),
    ("A[i]*B[i-2]", LONE, (3, 6), False),
    ("A[i]*B[i-2]", LONE, (2, 5), False),
    ("A[i] + A[i]*B[i]", LONE, (0, 6), True),
    ("A[i]*B[i] + A[i]", LONE, (0, 6), True),
    ("A[i] + B[i]", LONE, (0, 6), False),
    ("B[i] + A[i]", LONE, (0, 6), False),
    ("A[i]^2", LONE, (0, 6), True),
    ("A[i]^-1", LONE, (0, 6), False),
    ("tanh(A[i])", LONE, (0, 6), True),
    ("exp(A[i])", LONE, (0, 6), False),
    ("exp(A[i])", LONE, (-3, 9), True),
    ("exp(A[i])", LONE, (-2, 9), False),
    ("exp(A[i])", LONE, (-3, 8), False),
    ("A{fill=1}[i]", LONE, (0, 6), False),
    ("maximum(A[i], 1)", LONE, (0, 6), False),
    ("where(i == 2, B[i], 0)", LONE, (2, 3), True),
    ("where(i == 2, B[i], 0)", LONE, (3, 4), False),
    ("where(i == 2, B[i], 0)", LONE, (1, 2), False),
    ("where(i >= 2, B[i], 0)", LONE, (2, 9), True),
    ("where(i >= 2, B[i], 0)", LONE, (3, 9), False),
    ("where(i >= 2, B[i], 0)", LONE, (2, 5), False),
    ("where(i >= 2, exp(B[i]), 0)", LONE, (2, 9), True),
    ("where(i >= 2, B[i], 1)", LONE, (2, 9), False),
    ("where(i >= 2, A[i], A[i]*B[i])", LONE, (0, 6), True),
    ("where(i >= 7, A[i], B[i])", LONE, (0, 6), False),
    ("where(i >= 2, A[i], 0)", LONE, (2, 6), True),
    ("where(B[i] < 1/2, A[i], 2*A[i])", LONE, (0, 6), True),
    ("where(B[i] < 1/2, A[i], 2*A[i])", LONE, (0, 5), False),
    ("where(B[i] < B[i+3], A[i], B[i])", LONE, (0, 6), False),
    ("where(B[i] < B[i+3], B[i], A[i])", LONE, (0, 6), False),
]
"""A body, a row and a range: is the body zero wherever the row leaves the range?"""


@sampled(2)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("text", "within", "bound", "zero"), CASES)
def test_vanishes_outside(
    text: str, within: Row, bound: tuple[int, int], zero: bool, exact: bool
) -> None:
    scope = read(f"{{L[i:{BOX.lo}:{BOX.hi}] {text}}}", **_used(text))
    assert vanishes_outside(scope.body, (BOX,), [(within, Range(*bound))], exact) is zero
    field = ExactField()
    values = evaluate(scope, random_values(input_tensors(scope), field, 0), field)
    held = [affine.evaluate(within, {0: i}.__getitem__) for i in range(BOX.lo, BOX.hi)]
    outside = [v for at, v in zip(held, values, strict=True) if not bound[0] <= at < bound[1]]
    assert all(value == 0 for value in outside) is zero


BESIDE: list[tuple[str, bool]] = [
    # A is read outside beside what is no number there, or is one
    ("A[i]/B[i-1]", False),
    ("A[i]/B[i+3]", True),
    ("A[i]/B{fill=2}[i-1]", True),
    ("A[i]/B{fill=inf}[i-1]", True),
    ("A[i]*B{fill=inf}[i-1]", False),
    ("A[i]*B{fill=inf}[i+3]", True),
    ("A[i]*exp(B{fill=-inf}[i-1])", True),
    ("A[i]*exp(B{fill=inf}[i-1])", False),
    ("A[i]*relu(B{fill=-inf}[i-1])", True),
    ("A[i]*sin(B{fill=inf}[i-1])", False),
    ("A[i]*log(B[i-1])", False),
    ("A[i]*log(B[i+3])", True),
    ("A[i]*log(B[i-1] + 1)", True),
    ("A[i]*log(exp(B[i-1]))", True),
    ("A[i]*log1p(B[i-1])", True),
    ("A[i]*log1p(B{fill=-1}[i-1])", False),
    ("A[i]*sqrt(B[i-1])", True),
    ("A[i]*sqrt(B{fill=-1}[i-1])", False),
    ("A[i]*rsqrt(B[i-1])", False),
    ("A[i]*rsqrt(B[i-1]^2 + 1)", True),
    ("A[i]*rsqrt(B[i-1]^2)", False),
    ("A[i]/(B[i-1]*B[i+3])", False),
    ("A[i]/(B[i+3] - B[1])", False),
    ("A[i]/(B[i+3] + 1)", True),
    ("A[i]/(B[i-1] - 1)^2", True),
    ("A[i]/cos(B[i-1])", True),
    ("A[i]/tanh(B[i-1])", False),
    ("A[i]/maximum(B[i-1], 1)", True),
    ("A[i]/maximum(B[i-1], 0)", False),
    ("A[i]*maximum(B{fill=-inf}[i-1], 0)", True),
    ("A[i]*minimum(B{fill=-inf}[i-1], 0)", False),
    ("A[i]*maximum(B[i+3], B{fill=-inf}[i-1])", True),
    ("A[i]*where(i >= -1, 1/B[i-1], 0)", False),
    ("A[i]*where(i >= 1 and i < 9, 1/B[i-1], 0)", True),
    ("A[i]*where(i >= 1 and i < 10, 1/B[i-1], 1)", True),
    ("A[i]*where(i == 4, 1/B[i-1], 0)", True),
    ("A[i]*where(i == 4, 0, 1/B[i-1])", False),
    ("where(i >= 1 and i < 9, A[i]/B[i-1], 0)", True),
    ("A[i]/{L[i:-3:9] B[i-1]}[i]", False),
    ("A[i]/{L[i:-3:9] exp(B[i-1])}[i]", True),
    ("A[i]/{L[i:-3:9] S[j:0:3] exp(B[i+j-1])}[i]", True),
    ("A[i]/{L[i:-3:9] S[j:0:3] B[i+j-1]}[i]", False),
    ("A[i]/{L[i:-3:9] prod[j:0:3] B[i+j-1]}[i]", False),
    ("A[i]/{L[i:-3:9] prod[j:0:3] B{fill=-1}[i+j-1]}[i]", True),
    ("A[i]/{L[i:-3:9] S[j:0:0] B[i+j-1]}[i]", False),
    ("A[i]*{L[i:-3:9] max[j:0:0] B[i+j-1]}[i]", False),
    ("A[i]*{L[i:-3:9] max[j:0:2] B[i+j-1]}[i]", True),
    ("A[i]*{L[i:-3:9] S[j:0:2] 1/B[i+j+3]}[i]", False),
    ("A[i]*{L[i:-3:5] 1/B[i+3]}[i]", True),
    ("A[i]*{L[i:-3:5] 1/B[i+3]}[i]/B[i-1]", False),
    ("B[i+3]*{L[i:0:6] 1/B[i-1]}[i]", True),
    ("{L[i:0:6] 1/B[i-1]}[i]/B[i-1]", False),
    ("A[i] + A[i]/B[i-1]", False),
    ("A[i] + A[i]/B[i+3]", True),
    ("tanh(A[i]*log(B[i-1]))", False),
    ("(A[i]/B[i-1])^2", False),
]
"""A body that is 0 where A is read outside, unless what stands beside is no number there."""


@sampled(2)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("text", "zero"), BESIDE)
def test_what_stands_beside_a_zero_has_to_be_a_number(text: str, zero: bool, exact: bool) -> None:
    scope = read(f"{{L[i:{BOX.lo}:{BOX.hi}] {text}}}", **{**_used(text), "B": (12,)})
    inside = [(LONE, Range(0, 6))]
    assert vanishes_outside(scope.body, (BOX,), inside, exact) is zero
    field = FloatField()
    values = evaluate(scope, random_values(input_tensors(scope), field, 0), field)
    outside = [v for i, v in enumerate(values, BOX.lo) if not 0 <= i < 6]
    assert all(value == 0 for value in outside) is zero


def _used(text: str) -> dict[str, tuple[int, ...]]:
    return {name: shape for name, shape in SHAPES.items() if name in text}


@pytest.mark.parametrize(
    ("text", "within", "bound"),
    [("A[i]", row(2), (0, 12)), ("A[i//2]", LONE, (0, 12)), ("C[i, 3-i]", LONE, (0, 4))],
)
def test_intervals_leave_some_cases_to_exact_reasoning(
    text: str, within: Row, bound: tuple[int, int]
) -> None:
    scope = make_scope([(-3, 20)], (), read(f"{{L[i:-3:20] {text}}}", **_used(text)).body)
    inside = [(within, Range(*bound))]
    assert vanishes_outside(scope.body, scope.loops, inside)


@pytest.mark.parametrize("exact", [False, True])
def test_what_stays_in_its_range_asks_for_nothing(exact: bool) -> None:
    scope = read("{L[i:-3:9,j:0:4] A[i]*exp(D[j])}", A=(6,), D=(4,))
    inside = [(LONE, Range(0, 6)), (affine.iterator(1), Range(0, 4))]
    assert vanishes_outside(scope.body, scope.loops, inside, exact)
    for narrower in (Range(1, 4), Range(0, 3)):
        inside[1] = (affine.iterator(1), narrower)
        assert not vanishes_outside(scope.body, scope.loops, inside, exact)
