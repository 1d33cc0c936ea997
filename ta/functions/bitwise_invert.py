"""bitwise_invert on NumPy's arrays, on rational numbers and on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, real=lambda x: -1.0 - x, exact=lambda x: -1 - x, ball=lambda x: -1 - x)
