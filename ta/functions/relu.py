"""relu on NumPy's arrays."""

import numpy as np

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, real=lambda x: np.maximum(x, 0))
