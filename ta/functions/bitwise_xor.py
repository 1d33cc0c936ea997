"""bitwise_xor on NumPy's arrays, on rational numbers and on balls."""

import operator

import numpy as np

from einderive.ta.functions.digits import of_digits
from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, **of_digits(operator.xor, np.bitwise_xor))
