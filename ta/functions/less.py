"""1 where x < y, else 0.  It is 0 if x or y is NaN.  Written `x < y`, or `y > x`."""

import operator

import numpy as np

from einderive.ta.functions.data import Function, decided

FUNCTION = Function(
    "less",
    lambda x, y: np.less(x, y) * 1.0,
    arity=2,
    exact=operator.lt,
    truth=True,
    always_finite=True,
    range=(0, 1),
    ball=decided(lambda x, y: x < y, lambda x, y: x >= y),
    infix="<",
    latex="{0} < {1}",
    torch="torch.lt",
    triton="tl.where({0} < {1}, {one}, {zero})",
)
