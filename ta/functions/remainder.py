"""remainder on balls."""

from einderive.ta.functions.stated import stated

FUNCTION = stated(__name__, ball=lambda x, y: x - y * (x / y).floor())
