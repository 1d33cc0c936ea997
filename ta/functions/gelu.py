"""gelu on NumPy's arrays and on balls."""

import math
from typing import Any

import numpy as np

from einderive.ta.functions.stated import stated

_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _real(x: Any) -> Any:
    return 0.5 * x * _erfc(x * -math.sqrt(0.5))


FUNCTION = stated(__name__, real=_real, ball=lambda x: x / 2 * (-x / type(x)(2).sqrt()).erfc())
