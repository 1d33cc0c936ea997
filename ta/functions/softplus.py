"""log(1 + e^x)."""

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "softplus",
    lambda x: np.logaddexp(x, 0.0),
    torch="F.softplus({0}, threshold=50)",
    triton="tl.maximum({0}, 0.0) + _log1p(_exp(-tl.abs({0})))",
    definition="log(1+exp(x))",
    triton_needs=(
        "exp",
        "log1p",
    ),
    ball=lambda x: x.exp().log1p(),
    derivative=("sigmoid(x)",),
    of_reals=True,
)
