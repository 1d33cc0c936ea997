"""Functions of two operands: against arbitrary precision, in torch, with their facts and laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, Final

import mpmath
import numpy as np
import pytest
import torch
from flint import arb, ctx

from einderive.eops.torch_views.stage import lower
from einderive.ta.equality.balls import PreciseField
from einderive.ta.equality.laws import apply_definitions
from einderive.ta.equality.partial_values import ValuedField, divides, missing
from einderive.ta.exact.fields import ModularField, RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.functions import FUNCTIONS
from einderive.ta.notation.parse import parse
from tests.amount import sampled

INF, NAN, EPS = math.inf, math.nan, float(np.finfo(np.float64).eps)


def whole(value: Callable[[Fraction], int]) -> Callable[..., Any]:
    """The whole part of the exact quotient."""
    return lambda x, y: mpmath.mpf(value(fraction(x) / fraction(y)))


def rest(value: Callable[[Fraction], int]) -> Callable[..., Any]:
    def left(x: Any, y: Any) -> Any:
        found = fraction(x) - fraction(y) * value(fraction(x) / fraction(y))
        return mpmath.mpf(found.numerator) / found.denominator

    return left


def fraction(x: Any) -> Fraction:
    return Fraction(float(x))


DEFINITIONS: Final[dict[str, Callable[..., Any]]] = {
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "fmod": rest(math.trunc),
    "remainder": rest(math.floor),
    "floor_divide": whole(math.floor),
}
NAMES: Final = list(DEFINITIONS)
DIVIDING: Final = [name for name in NAMES if FUNCTIONS[name].divides]
SPECIAL: Final = (INF, -INF, NAN, 0.0, 1.0, -1.0, 2.5, -7.0, 1e-30, 1e30)


def pairs(name: str) -> list[tuple[float, float]]:
    """Of many magnitudes, and near each other."""
    random = np.random.default_rng(0)
    sizes = 2.0 ** random.uniform(-40, 40, (300, 2)) * random.choice((-1, 1), (300, 2))
    near = random.uniform(-30, 30, (300, 2))
    found = [(float(x), float(y)) for x, y in (*sizes, *near, *near.round())]
    return [(x, y) for x, y in found if y and (x or name != "atan2")]


def test_every_function_of_two_operands_is_defined() -> None:
    others = {"maximum", "minimum", "less", "less_equal", "equal", "not_equal", "pow"}
    others |= {known.name for known in FUNCTIONS.values() if known.digits}
    assert {f.name for f in FUNCTIONS.values() if f.arity == 2} - others == DEFINITIONS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_accuracy(name: str) -> None:
    """A relative error of at most 4 eps; that of logaddexp is relative to the operands, and 1."""
    with mpmath.workprec(300):
        for x, y in pairs(name):
            value = float(FUNCTIONS[name].real(np.float64(x), np.float64(y)))
            exact = DEFINITIONS[name](mpmath.mpf(x), mpmath.mpf(y))
            size = max(1, abs(x), abs(y)) if name == "logaddexp" else abs(exact)
            assert abs(mpmath.mpf(value) - exact) <= 4 * EPS * size, (x, y)


@pytest.mark.parametrize("name", NAMES)
def test_torch_has_the_same_values_at_special_numbers(name: str) -> None:
    points = np.array(list(product(SPECIAL, repeat=2)))
    shapes = {"A": (len(points),), "B": (len(points),)}
    (root,) = parse(f"Y[i] = {name}(A[i],B[i])", shapes, "float64", {}).roots()
    data = [torch.from_numpy(points[:, k].copy()) for k in range(2)]
    found = lower(root)(dict(zip(input_tensors(root), data, strict=True)))
    with np.errstate(all="ignore"):
        expected = torch.from_numpy(FUNCTIONS[name].real(points[:, 0], points[:, 1]))
    torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize("name", DIVIDING)
def test_integers_stay_integers_and_a_division_by_zero_ends_no_program(name: str) -> None:
    values = np.array(list(product(range(-7, 8), (-3, -2, -1, 1, 2, 3, 0))))
    shapes = {"A": (len(values),), "B": (len(values),)}
    (root,) = parse(f"Y[i] = {name}(A[i],B[i])", shapes, "int64", {}).roots()
    data = [torch.from_numpy(values[:, k].copy()) for k in range(2)]
    found = lower(root)(dict(zip(input_tensors(root), data, strict=True)))
    assert found.dtype == torch.int64
    for (x, y), value in zip(values.tolist(), found.tolist(), strict=True):
        assert y == 0 or value == DEFINITIONS[name](x, y), (x, y)


@pytest.mark.parametrize("name", NAMES)
def test_where_there_is_no_value(name: str) -> None:
    """A number comes of numbers, unless the second one is 0 in a division; of a NaN comes NaN,
    unless the other operand may decide."""
    known = FUNCTIONS[name]
    for x, y in product((-2.5, 0.0, 1.0, 3e300), repeat=2):
        with np.errstate(all="ignore"):
            value = known.real(np.float64(x), np.float64(y))
        assert math.isfinite(value) == (not known.divides or y != 0), (x, y)
    with np.errstate(invalid="ignore"):
        beside = known.real(np.float64(INF), np.float64(NAN))
    assert (not math.isnan(beside)) is known.beside_nan


@pytest.mark.parametrize("name", DIVIDING)
def test_a_position_without_a_value_shows_nothing(name: str) -> None:
    (root,) = parse(f"Y[i] = {name}(A[i],A[0]-A[0])", {"A": (4,)}, "float64", {}).roots()
    assert divides(root)
    field = ValuedField(ModularField())
    values = field.convert(np.array([3, 4, 5, 6]))
    found = field.apply(name, values, field.convert(np.array([0, 1, 0, 2])))
    assert missing(found).tolist() == [True, False, True, False]


@sampled(4)
@pytest.mark.parametrize("name", NAMES)
def test_balls_hold_the_values(name: str) -> None:
    field = PreciseField(20)
    with mpmath.workdps(60):
        for x, y in pairs(name)[::7]:
            for size in (0.0, 2.0**-20, 0.5):
                balls = [np.asarray(arb(middle, size), dtype=object) for middle in (x, y)]
                found = field.apply(name, *balls).item()
                for a, b in product((-1, 0, 1), repeat=2):
                    u, v = float(x + a * size), float(y + b * size)
                    if v == 0 or (Fraction(u), Fraction(v)) != (
                        Fraction(x) + a * Fraction(size),
                        Fraction(y) + b * Fraction(size),
                    ):
                        continue
                    exact = DEFINITIONS[name](mpmath.mpf(u), mpmath.mpf(v))
                    with ctx.workdps(60):
                        around = arb(exact) + arb(0, abs(arb(exact)) * arb(10) ** -55)
                        assert found.is_nan() or found.overlaps(around), (u, v)


@pytest.mark.parametrize("name", [name for name in NAMES if FUNCTIONS[name].definition])
def test_the_definition_is_a_law(name: str) -> None:
    """Also where x and y are the names of the operands, in the other order."""
    text = f"Z[i] = {name}(y[i],x[i])"
    (root,) = parse(text, {"x": (40,), "y": (40,)}, "float64", {}).roots()
    (written,) = apply_definitions([root], [name])
    assert written is not root
    random = np.random.default_rng(2)
    data = {key: random.uniform(-9, 9, 40) for key in "xy"}
    values = [evaluate(each, data, RealField()) for each in (root, written)]
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-9)
