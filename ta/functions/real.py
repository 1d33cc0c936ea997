"""real on rational numbers, on balls and on complex balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(
    __name__, exact=lambda x: x, ball=lambda x: x, complex_ball=lambda z: type(z)(z.real)
)
