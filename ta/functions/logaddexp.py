"""log(e^x + e^y), without overflow of the exponentials.  The error is relative to the greatest of
|x|, |y| and 1."""

import numpy as np

from einderive.ta.functions.data import Function


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _logaddexp(x, y):
    """max(x, y) + log(1 + exp(-|x - y|)); of two equal infinities, it is that one."""
    top = tl.where(y > x, y, x)
    value = top + _log1p(_exp(-tl.abs(x - y)))
    value = tl.where((x == y) & (tl.abs(x) == float("inf")), x, value)
    return tl.where((x != x) | (y != y), x + y, value)
'''


FUNCTION = Function(
    "logaddexp",
    np.logaddexp,
    arity=2,
    symmetric=True,
    triton="_logaddexp({0}, {1})",
    triton_helper=_helper,
    triton_needs=(
        "exp",
        "log1p",
    ),
    definition="log(exp(x)+exp(y))",
    ball=lambda x, y: (x.exp() + y.exp()).log(),
    derivative=("sigmoid(x-y)", "sigmoid(y-x)"),
)
