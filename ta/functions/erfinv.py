"""The inverse of erf: erf(erfinv(x)) = x."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from einderive.ta.functions.data import Function, Interval, divided, polynomial, root

CENTRE = (
    (
        3.3871328727963665,
        133.14166789178438,
        1971.5909503065513,
        13731.69376550946,
        45921.95393154987,
        67265.7709270087,
        33430.57558358813,
        2509.0809287301227,
    ),
    (
        1.0,
        42.31333070160091,
        687.1870074920579,
        5394.196021424751,
        21213.794301586597,
        39307.89580009271,
        28729.085735721943,
        5226.495278852854,
    ),
)
"""The normal distribution's quantile p(r)/q(r) * x/2 for r = 0.180625 - (x/2)^2, |x| <= 0.85."""
TAIL = (
    (
        1.4234371107496835,
        4.630337846156546,
        5.769497221460691,
        3.6478483247632045,
        1.2704582524523684,
        0.2417807251774506,
        0.022723844989269184,
        0.0007745450142783414,
    ),
    (
        1.0,
        2.053191626637759,
        1.6763848301838038,
        0.6897673349851,
        0.14810397642748008,
        0.015198666563616457,
        0.0005475938084995345,
        1.0507500716444169e-09,
    ),
)
"""p(r - 1.6)/q(r - 1.6) for r = sqrt(-log((1 - |x|)/2)) <= 5."""
FAR_TAIL = (
    (
        6.657904643501103,
        5.463784911164114,
        1.7848265399172913,
        0.29656057182850487,
        0.026532189526576124,
        0.0012426609473880784,
        2.7115555687434876e-05,
        2.0103343992922881e-07,
    ),
    (
        1.0,
        0.599832206555888,
        0.1369298809227358,
        0.014875361290850615,
        0.0007868691311456133,
        1.8463183175100548e-05,
        1.421511758316446e-07,
        2.0442631033899397e-15,
    ),
)
"""p(r - 5)/q(r - 5) beyond (M. Wichura, Algorithm AS 241, Applied Statistics 37, 1988)."""
ROOT_HALF = 0.7071067811865476


def _quotient(table: Sequence[Sequence[float]], r: Any) -> Any:
    above, below = (np.polynomial.polynomial.polyval(r, row) for row in table)
    return above / below


def _real(x: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.sqrt(-np.log(0.5 * (1.0 - np.abs(x))))
        far = _quotient(FAR_TAIL, np.minimum(r, 9.0) - 5.0)
        tail = np.where(r <= 5.0, _quotient(TAIL, np.minimum(r, 5.0) - 1.6), far)
        tail = np.copysign(np.where(np.isinf(r), r, tail), x)
        centre = 0.5 * x * _quotient(CENTRE, 0.180625 - 0.25 * x * x)
        return ROOT_HALF * np.where(np.abs(x) <= 0.85, centre, tail)


def _text(table: Sequence[Sequence[float]], r: str, wide: bool) -> str:
    above, below = (polynomial(r, row) for row in table)
    return divided(above, below, wide)


def _helper(wide: bool) -> str:
    far = (
        f"\n    tail = tl.where(r <= 5.0, tail, {_text(FAR_TAIL, '(r - 5.0)', wide)})"
        if wide
        else ""
    )
    return f'''@triton.jit
def _erfinv(x):
    """By quotients of polynomials: in x^2, and in the root of the logarithm in both tails."""
    size = tl.abs(x)
    r = {root("-tl.log(0.5 * (1.0 - size))", wide)}
    tail = {_text(TAIL, "(r - 1.6)", wide)}{far}
    tail = tl.where(size == 1.0, r, tail)
    r = 0.180625 - 0.25 * x * x
    centre = 0.5 * size * {_text(CENTRE, "r", wide)}
    value = {ROOT_HALF!r} * tl.where(size <= 0.85, centre, tail)
    return tl.where(x < 0, -value, value)
'''


FUNCTION = Function(
    "erfinv",
    _real,
    latex=r"\operatorname{erf}^{-1}",
    triton="_erfinv({0})",
    triton_helper=_helper,
    at_zero=0,
    domain=Interval(-1, 1),
    ball=lambda x: x.erfinv() if -1 < x < 1 else type(x).nan(),
    derivative=("sqrt(pi)/2*exp(erfinv(x)^2)",),
)
