"""The greatest integer that is not above x."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "floor", np.floor, at_zero=0, steps=True, turns=(1.0,), ball=lambda x: x.floor()
)
