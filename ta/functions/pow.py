"""pow in Triton and on balls."""

from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _pow(x, y):
    """e^(y*log|x|) in float64, negative for a negative x and an odd y."""
    exponent = y.to(tl.float64)
    size = tl.abs(x).to(tl.float64)
    value = tl.exp(exponent * tl.log(size))
    value = tl.where((size == 1.0) | (exponent == 0.0), 1.0, value)
    whole = tl.floor(exponent) == exponent
    half = exponent * 0.5
    odd = whole & (tl.floor(half) != half)
    value = tl.where(odd & (x < 0), -value, value)
    nothing = (x < 0) & (tl.abs(x) < float("inf")) & (whole == 0)
    value = tl.where(nothing, float("nan"), value)
    value = tl.where((x != x) & (exponent != 0.0), float("nan"), value)
    return tl.where((y != y) & (x != 1.0), float("nan"), value).to(x.dtype)
'''


FUNCTION = stated(__name__, triton_helper=_helper, ball=lambda x, y: x**y)
