"""atan2 on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, ball=lambda y, x: type(y).atan2(y, x))
