"""The greater of x and y, elementwise; `max[k](...)` reduces."""

import numpy as np

from einderive.ta.functions.data import Function, Pieces

FUNCTION = Function(
    "maximum",
    np.maximum,
    latex=r"\max",
    triton="tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)",
    arity=2,
    pieces=Pieces((1, -1), above=(1, 0), below=(0, 1)),
    reducer="max",
    derivative=("where(x == y, 1/2, x > y)", "where(x == y, 1/2, x < y)"),
)
