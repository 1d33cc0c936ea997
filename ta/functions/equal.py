"""1 where x and y are the same number, else 0.  A NaN equals no number, itself included.  Written
`x == y`."""

import operator

import numpy as np

from einderive.ta.functions.data import Function, decided

FUNCTION = Function(
    "equal",
    lambda x, y: np.equal(x, y) * 1.0,
    arity=2,
    exact=operator.eq,
    truth=True,
    symmetric=True,
    always_finite=True,
    range=(0, 1),
    ball=decided(lambda x, y: x == y, lambda x, y: x != y),
    infix="==",
    latex="{0} = {1}",
    torch="torch.eq",
    triton="tl.where({0} == {1}, {one}, {zero})",
)
