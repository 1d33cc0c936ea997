"""cosh in Triton."""

from einderive.ta.functions.stated import stated


def _helper(wide: bool) -> str:
    return '''@triton.jit
def _cosh(x):
    """By exp(|x|/2), which overflows for no x at which the result does not."""
    root = _exp(0.5 * tl.abs(x))
    return 0.5 * root * root + 0.5 / root / root
'''


FUNCTION = stated(__name__, triton_helper=_helper)
