"""The hyperbolic cosine: (e^x + e^-x)/2."""

import numpy as np

from einderive.ta.functions.data import Function


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _cosh(x):
    """By exp(|x|/2), which overflows for no x at which the result does not."""
    root = _exp(0.5 * tl.abs(x))
    return 0.5 * root * root + 0.5 / root / root
'''


FUNCTION = Function(
    "cosh",
    np.cosh,
    latex=r"\cosh",
    triton="_cosh({0})",
    triton_needs=("exp",),
    triton_helper=_helper,
    definition="(exp(x)+exp(-x))/2",
    at_zero=1,
    ball=lambda x: x.cosh(),
    derivative=("sinh(x)",),
)
