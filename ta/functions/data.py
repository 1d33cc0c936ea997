"""The scalar functions of the notation: names, arity and real definitions.

Values are NumPy ufunc-like callables on float64 arrays; the exact interpreter treats every function
as opaque except those marked `piecewise_linear`, which are exact on rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Function(NamedTuple):
    """`arity` operands; `real` evaluates on float64 arrays; `exact` on Fractions, where it can."""

    arity: int
    real: Callable[..., Any]
    latex: str
    exact: Callable[..., Any] | None = None
    keeps_zero: bool = False
    """f(0) = 0, so reading a fill of 0 through it gives 0."""


_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _sigmoid(x: Any) -> Any:
    """`e/(1+e)` or `1/(1+e)` with e = exp(-|x|): nothing cancels or overflows."""
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small, 1.0) / (1.0 + small)


def _silu(x: Any) -> Any:
    """`x * sigmoid(x)`, exp(-|x|) as a square so that it is not subnormal where the result is
    normal."""
    root = np.exp(-0.5 * np.abs(x))
    side = np.where(np.signbit(x), root, 1.0)
    return side * x * (side / (1.0 + root * root))


def _gelu(x: Any) -> Any:
    """`x/2 * erfc(-x/sqrt 2)`: `1 + erf` cancels for negative x."""
    return 0.5 * x * _erfc(x * -math.sqrt(0.5))


def _finite(x: Any) -> Any:
    """`x` where that is a number, 0 where it is infinite or NaN."""
    return np.where(np.isfinite(x), x, 0.0)


FUNCTIONS: dict[str, Function] = {
    "exp": Function(1, np.exp, r"\exp"),
    "log": Function(1, np.log, r"\log"),
    "log1p": Function(1, np.log1p, r"\operatorname{log1p}", keeps_zero=True),
    "expm1": Function(1, np.expm1, r"\operatorname{expm1}", keeps_zero=True),
    "sqrt": Function(1, np.sqrt, r"\operatorname{sqrt}", keeps_zero=True),
    "rsqrt": Function(1, lambda x: 1.0 / np.sqrt(x), r"\operatorname{rsqrt}"),
    "sin": Function(1, np.sin, r"\sin", keeps_zero=True),
    "cos": Function(1, np.cos, r"\cos"),
    "tanh": Function(1, np.tanh, r"\tanh", keeps_zero=True),
    "erf": Function(1, _erf, r"\operatorname{erf}", keeps_zero=True),
    "sigmoid": Function(1, _sigmoid, r"\sigma"),
    "silu": Function(1, _silu, r"\operatorname{silu}", keeps_zero=True),
    "gelu": Function(1, _gelu, r"\operatorname{gelu}", keeps_zero=True),
    "softplus": Function(1, lambda x: np.logaddexp(x, 0.0), r"\operatorname{softplus}"),
    "relu": Function(
        1, lambda x: np.maximum(x, 0), r"\operatorname{relu}", lambda x: max(x, 0), True
    ),
    "abs": Function(1, np.abs, r"\operatorname{abs}", abs, True),
    "sign": Function(1, np.sign, r"\operatorname{sign}", lambda x: (x > 0) - (x < 0), True),
    "finite": Function(1, _finite, r"\operatorname{finite}", keeps_zero=True),
    "maximum": Function(2, np.maximum, r"\max", max),
    "minimum": Function(2, np.minimum, r"\min", min),
}
"""`maximum(a, b)` and `minimum(a, b)` are elementwise; `max[k](...)` and `min[k](...)` reduce."""
PARTIAL = frozenset(("log", "log1p", "sqrt", "rsqrt"))
"""Functions that are not finite at every number."""
