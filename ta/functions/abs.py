"""abs on complex balls."""

from einderive.ta.functions.data import stated

FUNCTION = stated(__name__, complex_ball=lambda z: type(z)(abs(z)))
