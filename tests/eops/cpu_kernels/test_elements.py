"""The functions of CPU kernels against arbitrary precision, and at special values against NumPy."""

from __future__ import annotations

from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from einderive.eops.cpu_kernels.table import functions
from einderive.ta.functions import FUNCTIONS
from tests.amount import one_in

ULP = {
    "exp": 1.0,
    "expm1": 1.9,
    "log": 0.9,
    "log1p": 1.5,
    "tanh": 1.5,
    "sigmoid": 1.9,
    "silu": 2.5,
    "softplus": 1.9,
    "sqrt": 0.51,
    "rsqrt": 1.5,
    "erf": 2.2,
    "erfc": 3.5,
    "gelu": 4.5,
    "sinh": 3.0,
    "cosh": 2.0,
    "asinh": 3.0,
    "acosh": 3.0,
    "atanh": 3.0,
}
"""The largest error in units in the last place, of results that are no subnormal numbers."""
EXACT: dict[str, Any] = {
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log1p": mpmath.log1p,
    "tanh": mpmath.tanh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "gelu": lambda x: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2)),
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
}
UNARY = [name for name in functions("float64") if FUNCTIONS[name].arity == 1]
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, -2.0)


def applied(name: str, x: NDArray[Any]) -> NDArray[Any]:
    function = functions(x.dtype.name)[name]

    @njit
    def run(x: Any, y: Any) -> None:
        for i in range(x.size):
            y[i] = function(x[i])

    y = np.empty_like(x)
    run(x, y)
    return y


def sample(name: str, dtype: str) -> NDArray[Any]:
    """Numbers of all magnitudes, and many about 1."""
    random = np.random.default_rng(7)
    least = -37 if dtype == "float32" else -307
    signs = random.choice([-1.0, 1.0], 700)
    found = np.concatenate(
        [
            random.normal(0, 1, 500),
            random.normal(0, 30, 500),
            10.0 ** random.uniform(least, 3, 700) * signs,
            1 + random.normal(0, 1e-3, 300),
        ]
    ).astype(dtype)
    if name == "acosh":
        return np.concatenate([np.cosh(found[np.abs(found) < 80]), np.abs(found) + 1])
    if name == "atanh":
        return np.tanh(found)[np.abs(np.tanh(found)) < 1]
    domain = FUNCTIONS[name].domain
    if domain is None:
        return found
    return found[found > -1] if name == "log1p" else np.abs(found)


@pytest.mark.parametrize(("name", "dtype"), one_in(3, product(ULP, ("float32", "float64"))))
def test_error(name: str, dtype: str) -> None:
    x = sample(name, dtype)
    found, tiny = applied(name, x), np.finfo(dtype).tiny
    with mpmath.workprec(160):
        for at, value in zip(x, found, strict=True):
            exact = EXACT[name](mpmath.mpf(float(at)))
            with np.errstate(over="ignore"):
                rounded = np.dtype(dtype).type(float(exact))
            if np.isinf(rounded):
                assert value == rounded, at
            elif abs(rounded) >= tiny:
                ulp = float(abs(mpmath.mpf(float(value)) - exact) / float(np.spacing(abs(rounded))))
                tail = float(at) ** 2 if name == "gelu" else 0.0  # of the operand's rounding
                most = ULP[name] + 2 * tail
                assert ulp <= most, f"{name}({at!r}) = {value!r}: {ulp:.2f} ulp"


@pytest.mark.parametrize(("name", "dtype"), one_in(3, product(UNARY, ("float32", "float64"))))
def test_special_values(name: str, dtype: str) -> None:
    x = np.array([*SPECIAL, np.finfo(dtype).max, -np.finfo(dtype).max], dtype=dtype)
    with np.errstate(all="ignore"):
        expected = np.asarray(FUNCTIONS[name].real(x.astype(np.float64))).astype(dtype)
    np.testing.assert_allclose(applied(name, x), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_of_two(name: str) -> None:
    function = functions("float64")[name]
    for a in SPECIAL:
        for b in SPECIAL:
            assert str(function(a, b)) in {str(getattr(np, name)(a, b)), str(-0.0), str(0.0)}


@pytest.mark.parametrize("name", ["sqrt", "abs", "exp", "log1p", "expm1", "tanh"])
def test_subnormal_numbers_count(name: str) -> None:
    x = np.array([5e-324, 1e-310, 2e-308])
    expected = [FUNCTIONS[name].real(value) for value in x]
    np.testing.assert_allclose(applied(name, x), expected, rtol=1e-15)
