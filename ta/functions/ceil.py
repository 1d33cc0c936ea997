"""The least integer that is not below x."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function("ceil", np.ceil, at_zero=0, steps=True, turns=(-1.0,), ball=lambda x: x.ceil())
