"""round on rational numbers, in Triton and on balls."""

from typing import Any

from einderive.ta.functions.data import unchanged
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _round(x):
    """The floor of x or the next integer, whichever is nearer, or even."""
    low = tl.floor(x)
    rest = x - low
    even = 2.0 * tl.floor(0.5 * low) == low
    down = (rest < 0.5) | ((rest == 0.5) & even)
    return tl.where(down, low, tl.where(rest <= 1.0, low + 1.0, x))
'''


def _ball(x: Any) -> Any:
    """Both neighbours are the same integer, or lie on either side of a half."""
    above, below = (x + 0.5).floor(), (x - 0.5).ceil()
    if x.is_exact() and above.is_exact() and below.is_exact():
        return above if above == below else 2 * (above / 2).floor()
    return above.union(below)


FUNCTION = stated(__name__, exact=unchanged(round), triton_helper=_helper, ball=_ball)
