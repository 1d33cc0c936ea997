"""trigamma on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, ball=lambda x: type(x)(2).zeta(x) if x > 0 else type(x).nan())
