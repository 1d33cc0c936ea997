"""equal on rational numbers and on balls."""

import operator

from einderive.ta.functions.data import decided
from einderive.ta.functions.stated import stated

FUNCTION = stated(
    __name__, exact=operator.eq, ball=decided(lambda x, y: x == y, lambda x, y: x != y)
)
