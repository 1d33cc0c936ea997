"""The lesser of x and y, elementwise; `min[k](...)` reduces."""

import numpy as np

from einderive.ta.functions.data import Function, Pieces

FUNCTION = Function(
    "minimum",
    np.minimum,
    latex=r"\min",
    triton="tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    arity=2,
    pieces=Pieces((1, -1), above=(0, 1), below=(1, 0)),
    reducer="min",
    derivative=("where(x == y, 1/2, x < y)", "where(x == y, 1/2, x > y)"),
)
