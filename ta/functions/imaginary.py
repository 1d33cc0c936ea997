"""1j on NumPy's arrays."""

import math

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, real=lambda: math.nan)
