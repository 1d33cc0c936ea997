"""tanh in Triton."""

from einderive.ta.functions.data import divided
from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return f'''@triton.jit
def _tanh(x):
    """-d / (2 + d) for d = exp(-2 |x|) - 1, with the sign of x."""
    d = _expm1(-2.0 * tl.abs(x))
    t = {divided("-d", "2.0 + d", wide)}
    return tl.where(x < 0, -t, t)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
