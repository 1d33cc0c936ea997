"""The scalar functions against arbitrary precision, over the whole range of float64."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, Final

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from einderive.ta.functions import FUNCTIONS
from tests.amount import CAMPAIGN, sampled

EPS: Final = float(np.finfo(np.float64).eps)
SMALLEST: Final = sys.float_info.min
"""Below it numbers have fewer digits; results there are not compared."""
GREATEST_EXPONENT: Final = 1e4
"""exp of no larger number is computed: float64 has nothing for it but 0 and infinity."""

DEFINITIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "exp": mpmath.exp,
    "log": mpmath.log,
    "log1p": lambda x: mpmath.log(1 + x),
    "expm1": lambda x: mpmath.exp(x) - 1,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": lambda x: (mpmath.exp(2 * x) - 1) / (mpmath.exp(2 * x) + 1),
    "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2)),
    "softplus": lambda x: mpmath.log(1 + mpmath.exp(x)),
    "relu": lambda x: max(x, 0),
    "abs": abs,
    "sign": mpmath.sign,
    "finite": lambda x: x,
    "floor": mpmath.floor,
    "ceil": mpmath.ceil,
    "round": mpmath.nint,
    "trunc": lambda x: mpmath.mpf(int(x)),
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10),
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "erfc": mpmath.erfc,
    "erfinv": mpmath.erfinv,
    "lgamma": mpmath.loggamma,
    "digamma": mpmath.digamma,
    "trigamma": lambda x: mpmath.psi(1, x),
    "bitwise_invert": lambda x: -1 - x,
    "conj": lambda x: x,
    "real": lambda x: x,
    "imag": lambda x: 0 * x,
    "isfinite": lambda x: 1,
    "isinf": lambda x: 0,
    "isnan": lambda x: 0,
}
EXPONENTIAL: Final = frozenset(
    {"exp", "expm1", "exp2", "tanh", "sinh", "cosh", "erf", "erfc"}
    | {"sigmoid", "silu", "gelu", "softplus", "sign"}
)


def arguments(function: str) -> NDArray[np.float64]:
    """Of every magnitude; where exponentials have their tails; at whole numbers."""
    generator = np.random.default_rng(0)
    parts = [
        2.0 ** generator.uniform(-1022, 1023, 60),
        2.0 ** generator.uniform(-60, 12, 200),
        generator.uniform(0, 750, 100),
        generator.uniform(0, 40, 200),
        np.arange(1.0, 48.0),
    ]
    points = np.concatenate([*parts, *(-part for part in parts)])
    domain = FUNCTIONS[function].domain
    if domain is not None:
        inside = generator.uniform(-1, 1, 100) if math.isfinite(domain.greatest) else []
        points = np.array([point for point in (*points, *inside) if domain.holds(point)])
    return points[np.abs(points) <= GREATEST_EXPONENT] if function in EXPONENTIAL else points


def defined(function: str, point: float) -> Any:
    """The value, to many more digits than cancel in the definitions."""
    tiny = abs(point) < 2.0**-60
    with mpmath.workprec(2400 if tiny or abs(point) > 80 else 400):
        return DEFINITIONS[function](mpmath.mpf(point))


def test_every_function_of_one_operand_is_defined_here() -> None:
    assert {name for name, f in FUNCTIONS.items() if f.arity == 1} == DEFINITIONS.keys()


@sampled(2)
@pytest.mark.parametrize("part", [10, pytest.param(1, marks=CAMPAIGN)])
@pytest.mark.parametrize("function", DEFINITIONS)
def test_accuracy(function: str, part: int) -> None:
    """A relative error of at most 4 eps.  gelu rounds x/sqrt 2 once, and the condition of its left
    tail is x^2."""
    points = arguments(function)[::part]
    with np.errstate(over="ignore", under="ignore"):
        values = FUNCTIONS[function].real(points)
    compared = 0
    for point, value in zip(points.tolist(), values.tolist(), strict=True):
        exact = defined(function, point)
        if abs(exact) > sys.float_info.max:
            assert np.isinf(value), point
        elif abs(exact) >= SMALLEST:
            condition = point * point if function == "gelu" and point < -1 else 0.0
            error = abs(mpmath.mpf(value) - exact) / abs(exact)
            assert error <= (4 + condition) * EPS, (point, value, exact)
            compared += 1
        else:
            assert abs(value) <= 2 * SMALLEST, (point, value)
            compared += FUNCTIONS[function].truth or FUNCTIONS[function].part
    assert compared > 200 / part


@pytest.mark.parametrize(
    ("function", "argument", "value"),
    [
        ("sigmoid", -40.0, 4.248354255291589e-18),
        ("sigmoid", -36.0, 2.319522830243569e-16),
        ("silu", -40.0, -1.6993417021166355e-16),
        ("gelu", -9.0, -1.0157295231762672e-18),
        ("softplus", -40.0, 4.248354255291589e-18),
    ],
)
def test_left_tails(function: str, argument: float, value: float) -> None:
    assert FUNCTIONS[function].real(np.float64(argument)) == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize(
    ("function", "below", "above"),
    [
        ("exp", 0, np.inf),
        ("expm1", -1, np.inf),
        ("tanh", -1, 1),
        ("erf", -1, 1),
        ("sigmoid", 0, 1),
        ("softplus", 0, np.inf),
        ("relu", 0, np.inf),
        ("abs", np.inf, np.inf),
        ("sign", -1, 1),
        ("log", np.nan, np.inf),
        ("log1p", np.nan, np.inf),
        ("sqrt", np.nan, np.inf),
        ("rsqrt", np.nan, 0),
        ("sin", np.nan, np.nan),
        ("cos", np.nan, np.nan),
        ("floor", -np.inf, np.inf),
        ("ceil", -np.inf, np.inf),
        ("round", -np.inf, np.inf),
        ("trunc", -np.inf, np.inf),
        ("exp2", 0, np.inf),
        ("log2", np.nan, np.inf),
        ("log10", np.nan, np.inf),
        ("sinh", -np.inf, np.inf),
        ("cosh", np.inf, np.inf),
        ("asinh", -np.inf, np.inf),
        ("acosh", np.nan, np.inf),
        ("atanh", np.nan, np.nan),
        ("tan", np.nan, np.nan),
        ("asin", np.nan, np.nan),
        ("acos", np.nan, np.nan),
        ("erfc", 2, 0),
        ("erfinv", np.nan, np.nan),
        ("lgamma", np.nan, np.inf),
        ("digamma", np.nan, np.inf),
        ("trigamma", np.nan, 0),
        ("atan", -math.pi / 2, math.pi / 2),
        ("silu", np.nan, np.inf),
        ("gelu", np.nan, np.inf),
    ],
)
def test_infinities_and_nan(function: str, below: float, above: float) -> None:
    """`0 * inf` is NaN, so silu and gelu have no value at -inf; a NaN goes through."""
    with np.errstate(invalid="ignore"):
        found = FUNCTIONS[function].real(np.array([-np.inf, np.inf, np.nan]))
    np.testing.assert_array_equal(found, [below, above, np.nan])


def test_finite_replaces_what_is_no_number() -> None:
    found = FUNCTIONS["finite"].real(np.array([-np.inf, np.inf, np.nan, -2.5, 0.0]))
    np.testing.assert_array_equal(found, [0, 0, 0, -2.5, 0])
