"""1 where x and y are different numbers, else 0.  A NaN differs from every number, itself included.
Written `x != y`."""

import operator

import numpy as np

from einderive.ta.functions.data import Function, decided

FUNCTION = Function(
    "not_equal",
    lambda x, y: np.not_equal(x, y) * 1.0,
    arity=2,
    exact=operator.ne,
    truth=True,
    symmetric=True,
    always_finite=True,
    range=(0, 1),
    ball=decided(lambda x, y: x != y, lambda x, y: x == y),
    infix="!=",
    latex=r"{0} \ne {1}",
    torch="torch.ne",
    triton="tl.where({0} != {1}, {one}, {zero})",
)
