"""x/2 * erfc(-x/sqrt(2)): x times the normal distribution's probability of a number below x.

`1 + erf(x/sqrt(2))` is the same number, but cancels for negative x.  torch's own call is one pass;
on a CPU it loses the left tail so, and in float32 it is NaN at infinity and infinite near the
largest number.
"""

import math
from typing import Any

import numpy as np

from einderive.ta.functions.data import Function

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _real(x: Any) -> Any:
    return 0.5 * x * _erfc(x * -math.sqrt(0.5))


FUNCTION = Function(
    "gelu",
    _real,
    torch="F.gelu",
    triton="0.5 * {0} * _erfc({0} * -0.7071067811865476)",
    triton_needs=("erfc",),
    at_zero=0,
    torch_stage="F.gelu({0}) if {0}.is_cuda else "
    "({0} * -0.7071067811865476).erfc_().mul_(0.5).mul_({0})",
    ball=lambda x: x / 2 * (-x / type(x)(2).sqrt()).erfc(),
    derivative=("erfc(-x/sqrt(2))/2 + x*exp(-x^2/2)/sqrt(2*pi)",),
    of_reals=True,
)
