"""1 where x <= y, else 0.  It is 0 if x or y is NaN.  Written `x <= y`, or `y >= x`."""

import operator

import numpy as np

from einderive.ta.functions.data import Function, decided

FUNCTION = Function(
    "less_equal",
    lambda x, y: np.less_equal(x, y) * 1.0,
    arity=2,
    exact=operator.le,
    truth=True,
    always_finite=True,
    range=(0, 1),
    ball=decided(lambda x, y: x <= y, lambda x, y: x > y),
    infix="<=",
    latex=r"{0} \le {1}",
    torch="torch.le",
    triton="tl.where({0} <= {1}, {one}, {zero})",
)
