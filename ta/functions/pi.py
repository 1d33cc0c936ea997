"""The circumference of a circle of diameter 1.  Written `pi`."""

import math
from typing import Any

from einderive.ta.functions.data import Function


def _ball() -> Any:
    import flint  # where a counterexample is confirmed, and nowhere else

    return flint.arb.pi()


FUNCTION = Function("pi", lambda: math.pi, arity=0, ball=_ball, latex=r"\pi", torch="math.pi")
