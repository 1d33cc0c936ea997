"""finite on NumPy's arrays and on balls."""

import numpy as np

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, real=lambda x: np.where(np.isfinite(x), x, 0.0), ball=lambda x: x)
