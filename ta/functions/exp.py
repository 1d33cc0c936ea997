"""e^x."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function("exp", np.exp, latex=r"\exp", at_zero=1, ball=lambda x: x.exp())
