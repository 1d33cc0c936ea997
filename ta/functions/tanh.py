"""The hyperbolic tangent."""

import numpy as np

from einderive.ta.functions.data import Function, divided


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _tanh(x):
    """-d / (2 + d) for d = exp(-2 |x|) - 1, with the sign of x."""
    d = _expm1(-2.0 * tl.abs(x))
    t = {divided("-d", "2.0 + d", wide)}
    return tl.where(x < 0, -t, t)
'''


FUNCTION = Function(
    "tanh",
    np.tanh,
    latex=r"\tanh",
    triton="_tanh({0})",
    definition="(exp(x)-exp(-x))/(exp(x)+exp(-x))",
    at_zero=0,
    range=(-1, 1),
    triton_helper=_helper,
    triton_needs=("expm1",),
    ball=lambda x: x.tanh(),
    derivative=("1-tanh(x)^2",),
)
