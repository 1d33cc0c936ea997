"""erfinv on NumPy's arrays, in Triton and on balls."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated
from einderive.ta.functions.triton_text import divided, polynomial, root
from einderive.ta.listing import beside

DATA = beside(__name__)["coefficients"]

CENTRE: tuple[tuple[float, ...], ...] = DATA["centre"]
"""The normal distribution's quantile p(r)/q(r) * x/2 for r = 0.180625 - (x/2)^2, |x| <= 0.85."""
TAIL: tuple[tuple[float, ...], ...] = DATA["tail"]
"""p(r - 1.6)/q(r - 1.6) for r = sqrt(-log((1 - |x|)/2)) <= 5."""
FAR_TAIL: tuple[tuple[float, ...], ...] = DATA["far_tail"]
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


FUNCTION = stated(
    __name__,
    real=_real,
    triton_helper=_helper,
    ball=lambda x: x.erfinv() if -1 < x < 1 else type(x).nan(),
)
