"""The hyperbolic sine: (e^x - e^-x)/2."""

import numpy as np

from einderive.ta.functions.data import Function, divided


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _sinh(x):
    """Near 0 by d = exp(|x|) - 1, where the difference would cancel; elsewhere by exp(|x|/2),
    which overflows for no x at which the result does not."""
    size = tl.abs(x)
    d = _expm1(tl.minimum(size, 2.0))
    root = _exp(0.5 * size)
    large = 0.5 * root * root - 0.5 / root / root
    value = tl.where(size < 1.0, 0.5 * (d + {divided("d", "1.0 + d", wide)}), large)
    return tl.where(x < 0, -value, value)
'''


FUNCTION = Function(
    "sinh",
    np.sinh,
    latex=r"\sinh",
    triton="_sinh({0})",
    triton_helper=_helper,
    triton_needs=("expm1",),
    definition="(exp(x)-exp(-x))/2",
    at_zero=0,
    ball=lambda x: x.sinh(),
    derivative=("cosh(x)",),
)
