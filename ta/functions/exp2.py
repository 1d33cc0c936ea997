"""exp2 on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, ball=lambda x: (x * type(x)(2).log()).exp())
