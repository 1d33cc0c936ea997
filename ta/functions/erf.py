"""The error function: 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x."""

import math

import numpy as np

from einderive.ta.functions.data import Function

FUNCTION = Function(
    "erf",
    np.vectorize(math.erf, otypes=[np.float64]),
    at_zero=0,
    range=(-1, 1),
    ball=lambda x: x.erf(),
    derivative=("2/sqrt(pi)*exp(-x^2)",),
    of_reals=True,
)
