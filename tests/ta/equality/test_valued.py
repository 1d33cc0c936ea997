"""Where a program has no value, no equality is shown and no difference is claimed."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from einderive.ta.equality.compare import Outcome, compare
from einderive.ta.equality.counterexample import StrictField, first_difference
from einderive.ta.equality.exp_law import ExponentialField
from einderive.ta.equality.partial_values import ValuedField, bare, missing
from einderive.ta.equality.signs import SignField
from einderive.ta.exact.fields import ModularField
from einderive.ta.exact.rationals import ExactField
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse

SHAPES = {"A": (4,), "B": (4,), "C": (4,)}
FIELDS = [ValuedField(field) for field in (ModularField(), SignField(), ExponentialField())]
INF = math.inf


def roots(text: str) -> tuple[Scope, ...]:
    used = {
        name: shape for name, shape in SHAPES.items() if f"{name}[" in text or f"{name}{{" in text
    }
    return parse(text, used).roots()


def output(text: str) -> tuple[Scope, ...]:
    unnamed = "k" in text and "[k])" not in text
    return roots(f"Y[i] = {text} where i in 0:4" + (", k in 0:2" if unnamed else ""))


def outcome(left: str, right: str) -> Outcome:
    return compare(output(left), output(right))


@pytest.mark.parametrize("field", FIELDS)
def test_infinities_and_what_has_no_value(field: ValuedField) -> None:
    up, down, zero, two = map(field.constant, (INF, -INF, Fraction(0), Fraction(2)))
    entry = field.random((), np.random.default_rng(0))
    none = field.power(zero, -1)
    for value in (
        none,
        field.power(up, -1),
        field.add(up, down),
        field.multiply(up, entry),
        field.multiply(none, zero),
        field.add(none, up),
        field.apply("exp", none),
        field.reduce("max", np.stack([none, two]), 1),
        field.reduce("sum", np.stack([up, down, two]), 1),
        field.apply("log", zero),
    ):
        assert missing(value)
    for value, expected in (
        (field.add(up, entry), up),
        (field.multiply(up, field.constant(Fraction(-3))), down),
        (field.multiply(up, zero), zero),
        (field.power(down, 2), up),
        (field.power(down, 3), down),
        (field.apply("relu", down), zero),
        (field.apply("abs", down), up),
        (field.apply("exp", down), zero),
        (field.apply("maximum", down, entry), entry),
        (field.apply("minimum", down, entry), down),
        (field.reduce("sum", np.stack([up, two, up]), 1), up),
        (field.reduce("prod", np.stack([up, two, down]), 1), down),
    ):
        assert not missing(value)
        assert not field.differs(value, expected)
    if not isinstance(field.inner, ExponentialField) and isinstance(field.inner, SignField):
        assert not field.differs(field.reduce("max", np.stack([down, entry]), 1), entry)
        assert not field.differs(field.reduce("max", np.stack([up, entry]), 1), up)
        assert not field.differs(field.combine("min", up, down), down)
    assert field.differs(up, down)
    assert field.differs(up, bare(up))


@pytest.mark.parametrize("field", FIELDS)
def test_the_domains_of_functions(field: ValuedField) -> None:
    undefined = {
        "log": ("0", "-1", "-1/2", "-4095/64"),
        "rsqrt": ("0", "-1", "-1/2", "-4096"),
        "sqrt": ("-1", "-1/2", "-4096/63"),
        "log1p": ("-1", "-3/2", "-4096"),
        "asin": ("-9/8", "2"),
        "atanh": ("1", "-1", "3/2"),
        "acosh": ("0", "63/64"),
    }
    defined = {
        "log": ("1/64", "1", "4096"),
        "rsqrt": ("1/3", "7"),
        "sqrt": ("0", "1/2"),
        "log1p": ("-1/2", "-63/64", "0"),
        "exp": ("-1", "4096"),
        "sin": ("-1/2",),
        "asin": ("1", "-1/2"),
        "atanh": ("63/64",),
        "acosh": ("1", "5"),
    }
    for points, expected in ((undefined, True), (defined, False)):
        for function, numbers in points.items():
            for number in numbers:
                value = field.apply(function, field.constant(Fraction(number)))
                assert missing(value) == expected, (function, number)
    for function in [
        name for name, known in FUNCTIONS.items() if known.domain
    ]:  # opaque: a few of a thousand random residues may seem to be numbers
        entries = field.random((1000,), np.random.default_rng(1))
        assert np.count_nonzero(missing(field.apply(function, entries))) < 5


@pytest.mark.parametrize("field", FIELDS)
def test_domains_apart_from_infinities(field: ValuedField) -> None:
    up, zero, minus = map(field.constant, (INF, Fraction(0), Fraction(-1)))
    entry = field.random((), np.random.default_rng(0))
    alone, without = replace(field, unknown=False), replace(field, domains=False)
    for name, args in {
        "multiply": (up, entry),
        "add": (up, field.constant(-INF)),
        "power": (up, -1),
    }.items():
        assert missing(getattr(without, name)(*args)), name
        assert not missing(getattr(alone, name)(*args)), name
    assert missing(alone.power(zero, -1))
    for function in ("sqrt", "log", "rsqrt", "log1p"):
        assert missing(alone.apply(function, minus))
    assert not missing(without.apply("sqrt", minus))
    assert missing(alone.multiply(alone.apply("sqrt", minus), up))


def test_random_operands_are_inside_of_a_domain() -> None:
    """Some of so many residues seem to be negative numbers, in some draw."""
    size = 150
    clause = f" where i in 0:{size}, j in 0:{size}"
    shapes = dict.fromkeys("ABC", (size, size))
    for more in ("", "+maximum(C[i,j], A{fill=-inf}[i-1,j-1])"):
        left = f"Y[i,j] = log(A{{fill=3}}[i-1,j-1])*(B[i,j]+C[i,j]){more}{clause}"
        right = left.replace("*(B[i,j]+C[i,j])", "*B[i,j]+C[i,j]*log(A{fill=3}[i-1,j-1])")
        assert compare(parse(left, shapes).roots(), parse(right, shapes).roots()).equal


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("B[i]/A[i-1]", "where(i >= 1, B[i]/A[i-1], 0)"),
        ("A[i]/0", "0*A[i]"),
        (
            "B[i]/(A[i]-sum[k](where(k < 1, A[i], 0)))",
            "3*B[i]/(A[i]-sum[k](where(k < 1, A[i], 0)))",
        ),
        ("A{fill=inf}[i-1]*(B[i]+C[i])", "A{fill=inf}[i-1]*B[i]+A{fill=inf}[i-1]*C[i]"),
        ("A{fill=inf}[i-1]/A{fill=inf}[i-1]", "1"),
        ("relu(B[i])*A{fill=inf}[i-1]", "where(i >= 1, relu(B[i])*A{fill=inf}[i-1], 0)"),
        ("maximum(B[i], log(A[i-1]))", "B[i]+log(A[i-1])-minimum(B[i], log(A[i-1]))"),
        ("exp(log(A[i-1]))*(B[i]+C[i])", "exp(log(A[i-1]))*B[i]+exp(log(A[i-1]))*C[i]"),
    ],
)
def test_no_equality_is_shown_where_a_side_has_no_value(left: str, right: str) -> None:
    found = outcome(left, right)
    assert (found.equal, found.found) == (False, None)
    assert found.reason in ("value", "order")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("where(i >= 1, B[i]/A[i-1], 0)", "where(i >= 1, 1, 0)*where(i >= 1, B[i]/A[i-1], 1)"),
        ("A[i]/B[i]*B[i]", "A[i]"),
        ("A{fill=-inf}[i-1]+B[i]", "where(i >= 1, A[i-1]+B[i], -inf)"),
        ("-2*A{fill=inf}[i+2]", "where(i < 2, -2*A[i+2], -inf)"),
        ("maximum(A{fill=-inf}[i-1], B[i])", "where(i < 1, B[i], maximum(A[i-1], B[i]))"),
        ("exp(A{fill=-inf}[i-1]+B[i])", "where(i < 1, 0, exp(A[i-1]+B[i]))"),
        ("where(i < 1, 0, log(A[i-1]))*B[i]", "where(i < 1, 0, log(A[i-1])*B[i])"),
        ("sqrt(A[i-1])*B[i]+B[i]", "B[i]*(1+where(i < 1, 0, sqrt(A[i-1])))"),
        ("rsqrt(A[i]-5)*(B[i]+C[i])", "rsqrt(A[i]-5)*B[i]+C[i]*rsqrt(A[i]-5)"),
    ],
)
def test_what_has_values_is_shown(left: str, right: str) -> None:
    assert outcome(left, right).equal


@pytest.mark.parametrize(
    ("left", "right"),
    [("A[i]/abs(A[i])*sign(A[i])", "1"), ("1/(A[i]*0)", "5"), ("0/A[i]", "B[i]/A[i]")],
)
def test_no_counterexample_divides_by_zero(left: str, right: str) -> None:
    sides = (roots(f"Y[i] = {text} where i in 0:4") for text in (left, right))
    zeros = {name: np.zeros(4, dtype=np.int64) for name in SHAPES}
    assert first_difference(*sides, zeros, ExactField()) is None


def test_strict_rationals() -> None:
    field = StrictField()
    zero, one, up = map(field.constant, (Fraction(0), Fraction(1), INF))
    none = field.power(zero, -1)
    for value in (none, field.power(up, -1), field.multiply(none, zero)):
        assert not field.differs(value, one)
    assert not field.differs(field.multiply(up, zero), zero)
    assert not field.differs(field.reduce("prod", np.array([none, zero]).astype(object), 1), one)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1000000*sqrt(10^12*A[i]^2+1)-10^12*A[i]", "10^6/(sqrt(10^12*A[i]^2+1)+10^6*A[i])"),
        ("sum[k](exp(C[k])-exp(C[k]/2)^2)*10^10*B[i]", "0"),
        ("(10^300*exp(A[i])+exp(B[i]))-sum[k](where(k < 1, 10^300, 0))*exp(A[i])", "exp(B[i])"),
        ("1/exp(800*A[i]^2+800)", "exp(-800*A[i]^2-800)"),
    ],
)
def test_cancellation_and_overflow_are_no_differences(left: str, right: str) -> None:
    found = outcome(left, right)
    assert (found.equal, found.found) == (False, None) or found.equal


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("sqrt(A[i]^2+1)", "sqrt(A[i]^2+2)"),
        ("exp(A[i])-exp(B[i])", "0"),
        ("log(A[i]^2+1)*tanh(B[i])", "sigmoid(B[i])*log(A[i]^2+1)"),
        ("(exp(A[i])*10^30+1)-sum[k](where(k < 1, 10^30, 0))*exp(A[i])", "2"),
    ],
)
def test_real_differences_are_confirmed(left: str, right: str) -> None:
    assert outcome(left, right).found is not None


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_huge_arguments_of_waves_are_no_differences(name: str) -> None:
    huge = f"{name}(10^126*A[i]*exp(B[i])*exp(-B[i]))"
    assert outcome(huge, f"{name}(10^126*A[i])").found is None
    assert outcome(f"{name}(10^9*A[i])", f"{name}(10^9*A[i]+1)").found is not None
