"""The fast fields and the judge agree with the exact interpreter."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from einderive.ta.exact.fields import random_values, whole_value
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.exact.rationals import ExactField
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.node import Apply, Scope
from einderive.ta.ir.program import inline_statements
from einderive.ta.ir.subst import stages, walk
from einderive.ta.notation.parse import parse_expression
from tests.amount import first
from tests.derivations.seeds import read
from tests.fuzz.cases import read_case, text_of
from tests.fuzz.explore import Failure, difference
from tests.fuzz.floats import FloatField
from tests.fuzz.generator import program
from tests.fuzz.integers import LIMIT, Inexact, IntegerField
from tests.fuzz.judge import Judge
from tests.oracle import equal

INTEGERS, EXACT, FLOATS = IntegerField(), ExactField(), FloatField()


def opaque(scope: Scope) -> bool:
    return any(
        isinstance(node, Apply) and FUNCTIONS[node.function].on_rationals is None
        for stage in stages(scope)
        for node in walk(stage.body)
    )


@pytest.mark.parametrize("programs", first(1, (300, 1400)))
def test_integers_are_exact_or_say_so(programs: int) -> None:
    """Wherever IntegerField has a value, it is that of ExactField, infinities and POISON too."""
    compared = inexact = infinite = undefined = 0
    for seed in range(programs):
        for scope in program(Random(f"integers {seed}")):
            if opaque(scope):
                continue
            data = random_values(input_tensors(scope), INTEGERS)
            try:
                fast = evaluate(scope, data, INTEGERS)
            except Inexact:
                inexact += 1
                continue
            exact = evaluate(scope, data, EXACT).astype(np.float64)
            np.testing.assert_array_equal(fast, exact)
            compared += 1
            infinite += bool(np.isinf(exact).any())
            undefined += bool(np.isnan(exact).any())
    assert compared > programs // 3
    assert min(inexact, infinite, undefined) > 0


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if FUNCTIONS[f].arity == 1])
def test_functions_have_the_exact_values_at_zero_and_infinity(function: str) -> None:
    known = FUNCTIONS[function]
    for place in (Fraction(0), math.inf, -math.inf):
        value = known.pieces(place) if known.pieces else whole_value(function, place)
        if value is not None:
            np.testing.assert_equal(
                float(INTEGERS.apply(function, INTEGERS.constant(place))), float(value)
            )


def test_opaque_functions_tell_arguments_apart() -> None:
    values = INTEGERS.apply("exp", np.arange(-200.0, 200.0))
    assert len(np.unique(values)) > 80
    assert (INTEGERS.apply("tanh", np.arange(-200.0, 200.0)) != values).mean() > 0.9


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: INTEGERS.multiply(x, x),
        lambda x: INTEGERS.power(x, 2),
        lambda x: INTEGERS.power(x, -1),
        lambda x: INTEGERS.add(x * (LIMIT / 4), x * (LIMIT / 4)),
        lambda x: INTEGERS.reduce("prod", x, 1),
        lambda x: INTEGERS.reduce("sum", x * (LIMIT / 4), 1),
        lambda x: INTEGERS.constant(Fraction(1, 2)),
    ],
)
def test_what_float64_does_not_hold_is_an_error(compute: object) -> None:
    large = np.full(2, 2.0**27)
    assert callable(compute)
    with pytest.raises(Inexact):
        compute(large)


def test_the_judge_finds_what_the_interpreter_finds() -> None:
    """Each program against a copy with one number changed: both say the same."""
    pairs = [
        ("{L[i:0:4] S[k:0:3] A[i,k]*x[k]}", "{L[i:0:4] S[k:0:3] A[i,k]*x[k] + 0}", True),
        ("{L[i:0:4] S[k:0:3] A[i,k]*x[k]}", "{L[i:0:4] S[k:0:2] A[i,k]*x[k]}", False),
        ("{L[i:0:4] max[k:0:3] A[i,k]}", "{L[i:0:4] max[k:0:4] A{fill=-inf}[i,k]}", True),
        ("{L[i:0:4] max[k:0:3] A[i,k]}", "{L[i:0:4] max[k:0:4] A[i,k]}", False),
        ("{L[i:0:4] relu(x[i])}", "{L[i:0:4] relu(x[i])/2*2}", True),
        ("{L[i:0:4] relu(x[i])/2}", "{L[i:0:4] relu(x[i]/2)}", True),
        ("{L[i:0:4] exp(x[i])}", "{L[i:0:4] exp(x[i-1])}", False),
        ("{L[i:0:0] x[i]}", "{L[i:0:0] x[i+1]}", True),
    ]
    shapes = {"A": (4, 3), "x": (3,)}
    for left, right, same in pairs:
        before, after = read(left, **shapes), read(right, **shapes)
        found = difference(Judge(), before, after)
        assert (found == "") is same, (left, right, found)
        assert (equal(before, after) is None) is same


def test_other_loops_are_a_difference() -> None:
    before, after = read("{L[i:0:3] x[i]}", x=(3,)), read("{L[i:0:2] x[i]}", x=(3,))
    assert "loops" in difference(Judge(), before, after)


def test_a_value_that_is_lost_is_seen() -> None:
    """`inf*(x-y)` has a value, `inf*x - inf*y` has none; the other way round nothing is lost."""
    shapes = {"g": (1,), "x": (2,), "y": (2,)}
    before = read("{L[i:0:2] g{fill=inf}[i]*(x[i] - y[i])}", **shapes)
    after = read("{L[i:0:2] g{fill=inf}[i]*x[i] - g{fill=inf}[i]*y[i]}", **shapes)
    judge = Judge()
    assert judge.loses(before, after)
    assert not judge.loses(after, before)
    assert difference(judge, before, after) == ""


@pytest.mark.parametrize(
    ("left", "right", "spoiled"),
    [
        ("{L[i:0:4] S[k:0:2] A[k]/B[k]}", "{L[i:0:4] S[k:0:3] A[k]/B[k]}", True),
        ("{L[i:0:4] S[k:0:2] A[k]/B[k]}", "{L[i:0:4] S[k:0:3] where(k < 2, A[k]/B[k], 0)}", False),
        ("{L[i:0:4] S[k:0:2] A[k]}", "{L[i:0:4] S[k:0:3] A[k]*log(B[k])}", True),
        ("{L[i:0:4] A[i]*log(B[i])}", "{L[i:0:4] A[i]}", False),
        ("{L[i:0:4] S[k:0:2] A[k]}", "{L[i:0:4] S[k:0:3] A[k]*B{fill=inf}[k]}", True),
        ("{L[i:0:4] exp(-B{fill=inf}[i])}", "{L[i:0:4] exp(-B{fill=inf}[i])*1}", False),
        (
            "{L[i:0:4] {L[j:0:2] {rsqrt(-B[0])}[]*A[j]}[i]}",
            "{L[i:0:4] {rsqrt(-B[0])}[]*A[i]}",
            False,
        ),
        ("{L[i:0:4] {L[j:0:2] rsqrt(B[j])*A[j]}[i]}", "{L[i:0:4] rsqrt(B[i])*A[i]}", True),
        ("{L[i:0:2] exp(7*B[i])}", "{L[i:0:2] exp(700*B[i])*exp(-693*B[i])}", False),
    ],
)
def test_a_finite_point_that_is_none_any_more_is_seen(left: str, right: str, spoiled: bool) -> None:
    """A zero beside 1/0 or an infinity: exact values take it for 0.  Overflow is none of these, nor
    is a function that had no value before."""
    before, after = read(left, A=(2,), B=(2,)), read(right, A=(2,), B=(2,))
    judge = Judge()
    found = judge.spoils(before, after)
    assert (found is not None) is spoiled
    assert judge.spoils(before, before) is None


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda: FLOATS.power(np.zeros(2), -2), math.nan),
        (lambda: FLOATS.apply("log", np.zeros(2)), math.nan),
        (lambda: FLOATS.apply("rsqrt", np.zeros(2)), math.nan),
        (lambda: FLOATS.apply("log", np.full(2, math.inf)), math.inf),
        (lambda: FLOATS.multiply(np.zeros(2), np.full(2, math.inf)), math.nan),
        (lambda: FLOATS.reduce("sum", np.array([[1, math.inf]] * 2), 1), math.inf),
        (lambda: FLOATS.apply("exp", np.full(2, 800.0)), None),
        (lambda: FLOATS.apply("exp", np.full(2, -800.0)), None),
        (lambda: FLOATS.multiply(np.full(2, 1e200), np.full(2, 1e200)), None),
        (lambda: FLOATS.reduce("prod", np.full((2, 2), 1e200), 1), None),
    ],
)
def test_floats_have_no_value_at_a_pole_and_none_beyond_their_range(
    compute: Callable[[], np.ndarray], expected: float | None
) -> None:
    with np.errstate(all="ignore"):
        if expected is None:
            with pytest.raises(Inexact):
                compute()
        else:
            np.testing.assert_array_equal(compute(), np.full(2, expected))


@pytest.mark.parametrize(
    ("right", "same"),
    [
        ("{L[i:0:3] exp(x[i])*exp(y[i+1])}", True),
        ("{L[i:0:3] exp(x[i])*exp(y[i])}", False),
        ("{L[i:0:3] exp(x[i])*exp(y[i+1])^2}", False),
        ("{L[i:0:3] exp(x[i]) + exp(y[i+1])}", False),
    ],
)
def test_the_law_of_exp_holds_where_it_is_named(right: str, same: bool) -> None:
    """Also inside of another exp, which pairs of residues do not see."""
    before, after = (read(text, x=(3,), y=(3,)) for text in ("{L[i:0:3] exp(x[i]+y[i+1])}", right))
    assert (difference(Judge(), before, after, ("exp-sum",)) == "") is same
    assert difference(Judge(), before, after)
    outer = read("{L[i:0:3] exp(T[i])}", T=(3,))
    first, second = (inline_statements(outer, {"T": inner}) for inner in (before, after))
    assert (difference(Judge(), first, second, ("exp-sum",)) == "") is same


def test_an_unknown_law_is_refused() -> None:
    scope = read("{L[i:0:3] x[i]}", x=(3,))
    with pytest.raises(ValueError, match="gamma-product"):
        difference(Judge(), scope, scope, ("gamma-product",))


@pytest.mark.parametrize(
    ("before", "after", "equal_ones"),
    [
        ("conj(A[i]*B[i])", "conj(A[i])*conj(B[i])", True),
        ("real(A[i]*B[i])", "real(A[i])*real(B[i])", False),
        ("conj(A[i])", "A[i]", False),
        ("abs(A[i])^2", "real(A[i])^2+imag(A[i])^2", True),
        ("imag(1j*A[i])", "-real(A[i])", False),
        # of 10^15 the rounding of the operand decides on the sine, of 7 it does not
        ("sin(abs(1000000000000000*A[i]/3))", "sin(abs(A[i]*B[i]*1000000000000000/B[i]/3))", True),
        ("sin(abs(20*A[i]/3))", "sin(abs(A[i]*B[i]*20/B[i]/3))", True),
        ("sin(abs(20*A[i]/3))", "sin(abs(A[i]*B[i]*21/B[i]/3))", False),
        ("exp(1j*1000*real(A[i]))", "exp(1j*1001*real(A[i]))", False),
        ("bitwise_and(I[i],3)", "bitwise_and(3,I[i])", True),
        ("bitwise_or(I[i],1)", "bitwise_xor(I[i],1)", False),
    ],
)
def test_digits_and_complex_numbers_are_judged(before: str, after: str, equal_ones: bool) -> None:
    tensors = {name: expr.tensor(name, (9,), "complex64") for name in "AB"}
    tensors["I"] = expr.tensor("I", (9,), "int64")
    left, right = (parse_expression(f"{{L[i:0:9] {b}}}", tensors) for b in (before, after))
    assert isinstance(left, Scope)
    assert isinstance(right, Scope)
    assert (difference(Judge(), left, right) == "") is equal_ones
    case = Failure("law", left, (), "shows")
    assert read_case(text_of(case)) == case


def test_nothing_is_said_of_a_choice_by_what_has_no_value() -> None:
    """-5*T[i]*0^-1 has no value, and neither has where(1 < ..., -3, 0)."""
    before = read("{where(1 < {S[i:0:2] -5*T[i]*0^-1}[], -3, 0)}", T=(2,))
    after = read("{where(1 < {-5*{S[i:0:2] T[i]}[]*0^-1}[], -3, 0)}", T=(2,))
    assert difference(Judge(), before, after, ["max-same"]) == ""
    wrong = read("{where(0 < {-5*{S[i:0:2] T[i]}[]}[], -3, 0)}", T=(2,))
    right = read("{where(0 < {S[i:0:2] 5*T[i]}[], -3, 0)}", T=(2,))
    assert difference(Judge(), right, wrong, ["max-same"])
