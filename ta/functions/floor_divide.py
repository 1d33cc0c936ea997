"""floor_divide on rational numbers and on balls."""

import operator

from einderive.ta.functions.data import rational
from einderive.ta.functions.stated import stated

FUNCTION = stated(
    __name__,
    exact=rational(operator.floordiv),
    ball=lambda x, y: (x / y).floor(),
)
