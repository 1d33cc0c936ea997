"""isinf on rational numbers and on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, exact=lambda x: isinstance(x, float), ball=lambda x: 0 * x)
