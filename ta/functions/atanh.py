"""The inverse of tanh: log((1 + x)/(1 - x))/2."""

import numpy as np

from einderive.ta.functions.data import Function, Interval, divided


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _atanh(x):
    """For x >= 0, log(1 + 2x/(1 - x))/2."""
    size = tl.abs(x)
    value = 0.5 * _log1p({divided("2.0 * size", "1.0 - size", wide)})
    return tl.where(x < 0, -value, value)
'''


FUNCTION = Function(
    "atanh",
    np.arctanh,
    latex=r"\operatorname{artanh}",
    triton="_atanh({0})",
    triton_helper=_helper,
    triton_needs=("log1p",),
    definition="(log(1+x)-log(1-x))/2",
    at_zero=0,
    domain=Interval(-1, 1),
    ball=lambda x: x.atanh(),
    derivative=("1/(1-x^2)",),
)
