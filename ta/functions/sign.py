"""sign on complex balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, complex_ball=lambda z: z.sgn())
