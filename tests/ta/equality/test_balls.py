"""Balls hold the real values, judged by mpmath at many more digits; what has no value is NaN."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from einderive.ta.equality.balls import PreciseField
from einderive.ta.exact.fields import whole_value
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Reducer
from tests.amount import CAMPAIGN, sampled
from tests.ta.functions.test_functions import DEFINITIONS

FIELD: Final = PreciseField(20)
ORACLE: Final = mpmath.MPContext()
ORACLE.dps = 400  # 1 + exp(-778) is still not 1
MIDDLES: Final = (-650.0, -40.0, -3.5, -1.0, -0.5, 0.0, 2.0**-20, 0.75, 2.0, 30.0, 600.0)
SIZES: Final = (0.0, 2.0**-20, 0.3125, 4.0, 128.0)
INF: Final = math.inf
UNARY: Final = [name for name, known in FUNCTIONS.items() if known.arity == 1]


def ball(middle: float, radius: float = 0.0) -> np.ndarray[Any, Any]:
    return np.asarray(arb(middle, radius), dtype=object)


def apply(function: str, *args: np.ndarray[Any, Any]) -> arb:
    found: arb = FIELD.apply(function, *args).item()
    return found


def holds(found: arb, exact: Any) -> bool:
    """Whether the ball holds mpmath's number; the bounds of both are rounded outward."""
    with ctx.workdps(ORACLE.dps):
        return found.overlaps(arb(exact) + arb(0, abs(arb(exact)) * arb(10) ** -380))


def inside(middle: float, radius: float) -> list[float]:
    """Points of a ball, its ends among them, without rounding."""
    shares = (-64, -37, -5, 0, 11, 50, 64) if radius else (0,)
    points = [Fraction(middle) + Fraction(radius) * share / 64 for share in shares]
    assert all(float(point) == point for point in points)
    return [float(point) for point in points]


def has_value(function: str, point: float) -> bool:
    """Whether f is finite at the number."""
    domain = FUNCTIONS[function].domain
    return domain is None or domain.holds(point)


@sampled(4)
@pytest.mark.parametrize("part", [3, pytest.param(1, marks=CAMPAIGN)])
@pytest.mark.parametrize("function", UNARY)
def test_a_ball_holds_the_values_of_a_function_on_all_of_a_ball(function: str, part: int) -> None:
    known = 0
    mpmath.mp.dps, before = ORACLE.dps, mpmath.mp.dps
    try:
        for middle in MIDDLES[::part]:
            for size in SIZES:
                points = inside(middle, size)
                value = apply(function, ball(middle, size))
                if not all(has_value(function, point) for point in points):
                    assert value.is_nan(), (middle, size)
                    continue
                known += not value.is_nan()
                for point in points:
                    assert holds(value, DEFINITIONS[function](mpmath.mpf(point))), (middle, point)
                if not size and function != "sign":  # digits are lost in gelu's tail alone
                    assert value.rad() <= abs(value.mid()) * 1e-12, middle
    finally:
        mpmath.mp.dps = before
    stated = FUNCTIONS[function].ball is not None or FUNCTIONS[function].pieces is not None
    assert known >= (10 if part == 1 else 1) if stated else not known


@pytest.mark.parametrize("function", ["log", "log1p", "sqrt", "rsqrt"])
def test_a_ball_that_leaves_a_domain_has_no_value(function: str) -> None:
    assert apply(function, ball(0.5, 1.6)).is_nan()
    assert apply(function, ball(-1.0)).is_nan()


@pytest.mark.parametrize("function", UNARY)
def test_infinities_have_the_values_of_the_notation(function: str) -> None:
    for infinity in (INF, -INF):
        value, expected = apply(function, ball(infinity)), whole_value(function, infinity)
        if expected is None or math.isnan(expected):
            assert value.is_nan()
        else:
            assert value == float(expected), infinity


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_is_computed_from_what_has_no_value(function: str) -> None:
    none, one = ball(math.nan), ball(1.0)
    arity = FUNCTIONS[function].arity
    if FUNCTIONS[function].picks:
        assert apply(function, none, one, one).is_nan()
        assert apply(function, one, none, one).is_nan()
        assert apply(function, ball(0.0), none, one) == 1
        assert apply(function, ball(0.0, 1.0), none, one).is_nan()
    elif arity == 1:
        assert apply(function, none).is_nan()
    elif arity == 2:
        assert apply(function, none, one).is_nan()
        assert apply(function, ball(-INF), none).is_nan()


def test_arithmetic_beside_infinities_and_nan() -> None:
    up, down, zero, none = map(ball, (INF, -INF, 0.0, math.nan))
    wide, positive, negative = ball(0.0, 1.0), ball(2.0, 1.0), ball(-2.0, 1.0)
    valueless = (
        FIELD.add(up, down),
        FIELD.multiply(up, wide),
        FIELD.multiply(zero, none),
        FIELD.multiply(none, zero),
        FIELD.add(none, up),
        FIELD.power(up, -1),
        FIELD.power(zero, -1),
        FIELD.power(wide, -1),
        FIELD.power(wide, -2),
        FIELD.power(none, 2),
        FIELD.reduce("prod", np.array([arb(0), arb.nan()], dtype=object), 1),
        FIELD.reduce("max", np.array([arb(0), arb.nan()], dtype=object), 1),
    )
    for value in valueless:
        assert value.item().is_nan()
        assert not FIELD.differs(value, ball(5.0))
    for value, expected in (
        (FIELD.add(up, wide), INF),
        (FIELD.add(down, down), -INF),
        (FIELD.multiply(up, positive), INF),
        (FIELD.multiply(up, negative), -INF),
        (FIELD.multiply(zero, up), 0),
        (FIELD.multiply(down, zero), 0),
        (FIELD.power(down, 2), INF),
        (FIELD.power(down, 3), -INF),
        (FIELD.apply("maximum", down, ball(1.0)), 1),
        (FIELD.apply("minimum", down, wide), -INF),
        (FIELD.reduce("max", np.array([arb(1), arb.pos_inf()], dtype=object), 1), INF),
    ):
        assert value.item() == expected
    assert FIELD.differs(up, down)
    assert FIELD.differs(up, ball(1.0, 5.0))
    assert not FIELD.differs(up, up)


def test_what_overflows_has_no_value() -> None:
    """A ball of infinite radius would have a sign, a sine and a difference of its own."""
    huge = ball(10.0)
    for _ in range(6):
        huge = FIELD.apply("exp", huge)
    assert huge.item().is_nan()


@pytest.mark.parametrize("exponent", [-7, -2, -1, 1, 2, 3, 20])
def test_powers_of_balls(exponent: int) -> None:
    for middle, radius in ((1.5, 0.0), (-1.5, 2.0**-30), (-3.0, 0.5), (0.125, 0.0625)):
        value = FIELD.power(ball(middle, radius), exponent).item()
        for point in inside(middle, radius):
            assert holds(value, ORACLE.mpf(point) ** exponent), (middle, point)


@pytest.mark.parametrize("reducer", ["sum", "prod", "max", "min"])
def test_reductions_of_balls(reducer: Reducer) -> None:
    generator = np.random.default_rng(1)
    numbers = generator.standard_normal((3, 2, 4))
    radii = np.abs(generator.standard_normal((3, 2, 4))) * 1e-6
    balls = np.frompyfunc(arb, 2, 1)(numbers, radii)
    found = FIELD.reduce(reducer, balls, 2)
    step = {"sum": ORACLE.fsum, "prod": ORACLE.fprod, "max": max, "min": min}[reducer]
    for share in (-1.0, 0.0, 0.3, 1.0):
        points = (numbers + share * radii * (1 - 1e-12)).reshape(3, 8)
        for value, row in zip(found, points, strict=True):
            assert holds(value, step([ORACLE.mpf(x) for x in row]))
    pair = FIELD.combine(reducer, found[:1], found[1:2])
    assert holds(pair.item(), step([ORACLE.mpf(float(x.mid())) for x in found[:2]]))


def test_numbers_are_held() -> None:
    third = FIELD.constant(Fraction(1, 3)).item()
    assert holds(third, ORACLE.mpf(1) / 3)
    assert not third.is_exact()
    assert FIELD.constant(INF).item() == INF
    given = np.array([[Fraction(1, 7), 3], [0.1, 2**200]], dtype=object)
    found = FIELD.convert(given)
    assert found.shape == (2, 2)
    assert holds(found[0, 0], ORACLE.mpf(1) / 7)
    assert [x == y for x, y in zip(found.flat[1:], (3, 0.1, 2**200), strict=True)] == [True] * 3
    assert FIELD.convert(np.arange(3)).tolist() == [0, 1, 2]


def test_the_precision_of_others_is_left_alone() -> None:
    before = ctx.prec
    fine = PreciseField(200).apply("exp", ball(1.0)).item()
    assert ctx.prec == before
    assert fine.rad() < 1e-190
    assert FIELD.apply("exp", ball(1.0)).item().rad() > 1e-30


def test_gelu_far_below_zero() -> None:
    for digits in (15, 50):
        for point in (-3.5, -38.25, -200.25):
            value = PreciseField(digits).apply("gelu", ball(point)).item()
            x = ORACLE.mpf(point)
            assert holds(value, x / 2 * ORACLE.erfc(-x / ORACLE.sqrt(2))), point
            assert value.rad() < abs(value.mid()) / 1000
