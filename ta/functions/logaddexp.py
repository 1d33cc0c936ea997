"""logaddexp in Triton and on balls."""

from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _logaddexp(x, y):
    """max(x, y) + log(1 + exp(-|x - y|)); of two equal infinities, it is that one."""
    top = tl.where(y > x, y, x)
    value = top + _log1p(_exp(-tl.abs(x - y)))
    value = tl.where((x == y) & (tl.abs(x) == float("inf")), x, value)
    return tl.where((x != x) | (y != y), x + y, value)
'''


FUNCTION = stated(__name__, triton_helper=_helper, ball=lambda x, y: (x.exp() + y.exp()).log())
