"""x where c is not 0, else y.  The value that is not taken has no influence, even if it is NaN.  A
NaN as c is not 0.  Written `where(c, x, y)`."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "choose",
    lambda c, x, y: np.where(np.not_equal(c, 0), x, y),
    arity=3,
    exact=lambda c, x, y: x if c else y,
    picks=True,
    ball=lambda c, x, y: x if c != 0 else y if c.is_zero() else x.union(y),
    latex=r"\begin{{cases}} {1} & {0} \\ {2} & \text{{otherwise}} \end{{cases}}",
    torch="torch.where({0} != 0, {1}, {2})",
    triton="tl.where({0} != 0, {1}, {2})",
)
