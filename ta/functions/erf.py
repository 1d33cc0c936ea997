"""erf on NumPy's arrays."""

import math

import numpy as np

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, real=np.vectorize(math.erf, otypes=[np.float64]))
