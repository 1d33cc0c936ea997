"""The value that is not a number, NaN.  Written `nan`."""

import math
from typing import Any

from einderive.ta.functions.data import Function


def _ball() -> Any:
    import flint  # where a counterexample is confirmed, and nowhere else

    return flint.arb.nan()


FUNCTION = Function(
    "nan", lambda: math.nan, arity=0, ball=_ball, latex=r"\text{nan}", torch="math.nan"
)
