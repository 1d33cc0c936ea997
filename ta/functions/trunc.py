"""trunc on balls."""

from typing import Any

from einderive.ta.functions.stated import stated


def _ball(x: Any) -> Any:
    if x >= 0 or x <= 0:
        return x.floor() if x >= 0 else x.ceil()
    return x.floor().union(x.ceil())


FUNCTION = stated(__name__, ball=_ball)
