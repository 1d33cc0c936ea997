"""The greatest number; -inf over an empty range."""

import math

import numpy as np

from einderive.ta.functions import maximum
from einderive.ta.functions.data import Reduction

REDUCER = Reduction(
    "max",
    identity=-math.inf,
    order=1,
    ufunc=np.maximum,
    latex=r"\max",
    torch=maximum.FUNCTION.torch,
    torch_reduce="x.amax(axes)",
    torch_repeat="x",
    torch_scatter="amax",
    triton=maximum.FUNCTION.triton,
    opposite="min",
)
