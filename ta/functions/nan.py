"""nan on NumPy's arrays and on balls."""

import math
from typing import Any

from einderive.ta.functions.stated import stated


def _ball() -> Any:
    import flint  # where a counterexample is confirmed, and nowhere else

    return flint.arb.nan()


FUNCTION = stated(__name__, real=lambda: math.nan, ball=_ball)
