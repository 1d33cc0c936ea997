"""digamma on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, ball=lambda x: x.digamma() if x > 0 else type(x).nan())
