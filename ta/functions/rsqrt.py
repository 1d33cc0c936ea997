"""rsqrt on NumPy's arrays."""

import numpy as np

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, real=lambda x: 1.0 / np.sqrt(x))
