"""fmod on rational numbers and on balls."""

import math
from typing import Any

from einderive.ta.functions import trunc
from einderive.ta.functions.data import rational
from einderive.ta.functions.stated import stated


def _ball(x: Any, y: Any) -> Any:
    assert trunc.FUNCTION.ball is not None
    return x - y * trunc.FUNCTION.ball(x / y)


FUNCTION = stated(
    __name__,
    exact=rational(lambda x, y: x - y * math.trunc(x / y)),
    ball=_ball,
)
