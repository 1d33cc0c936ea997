"""erfinv on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, ball=lambda x: x.erfinv() if -1 < x < 1 else type(x).nan())
