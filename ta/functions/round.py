"""round on rational numbers and on balls."""

from typing import Any

from einderive.ta.functions.data import unchanged
from einderive.ta.functions.stated import stated


def _ball(x: Any) -> Any:
    """Both neighbours are the same integer, or lie on either side of a half."""
    above, below = (x + 0.5).floor(), (x - 0.5).ceil()
    if x.is_exact() and above.is_exact() and below.is_exact():
        return above if above == below else 2 * (above / 2).floor()
    return above.union(below)


FUNCTION = stated(__name__, exact=unchanged(round), ball=_ball)
