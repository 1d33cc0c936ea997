"""exp in Triton."""

import math

import numpy as np

from einderive.ta.functions.stated import stated

LOG2_E = math.log2(math.e)
HIGH = float(np.float32(LOG2_E))


def _helper(wide: bool) -> str:
    if wide:
        return """@triton.jit
def _exp(x):
    return tl.exp(x)
"""
    return f'''@triton.jit
def _exp(x):
    """2^t for t = x*log2(e), times 1 + d*log(2) for the rounding d of t, which is many units in the
    last place for large x."""
    t = x * {HIGH!r}
    rounding = tl.fma(x, {HIGH!r}, -t) + x * {LOG2_E - HIGH!r}
    power = tl.exp2(t)
    usual = (power > 0.0) & (power < float("inf"))
    return tl.where(usual, power + power * (rounding * {math.log(2)!r}), power)
'''


FUNCTION = stated(__name__, triton_helper=_helper)
