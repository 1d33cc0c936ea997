"""sqrt(x^2 + y^2), without overflow of the squares.  It is infinite if x or y is, even beside a
NaN."""

import numpy as np

from einderive.ta.functions.data import Function, divided, root


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _hypot(x, y):
    """g*sqrt(1 + (l/g)^2) for the lesser size l and the greater g."""
    high = tl.abs(y) > tl.abs(x)
    lesser = tl.where(high, tl.abs(x), tl.abs(y))
    greater = tl.where(high, tl.abs(y), tl.abs(x))
    t = tl.where((x == 0) & (y == 0), 0.0, {divided("lesser", "greater", wide)})
    value = greater * {root("1.0 + t * t", wide)}
    infinite = (tl.abs(x) == float("inf")) | (tl.abs(y) == float("inf"))
    return tl.where(infinite, float("inf"), value)
'''


FUNCTION = Function(
    "hypot",
    np.hypot,
    arity=2,
    symmetric=True,
    beside_nan=True,
    triton="_hypot({0}, {1})",
    triton_helper=_helper,
    definition="sqrt(x^2+y^2)",
    ball=lambda x, y: (x * x + y * y).sqrt(),
    derivative=("x/hypot(x,y)", "y/hypot(x,y)"),
    of_reals=True,
)
