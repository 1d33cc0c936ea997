"""The least number; inf over an empty range."""

import math

import numpy as np

from einderive.ta.functions import minimum
from einderive.ta.functions.data import Reduction

REDUCER = Reduction(
    "min",
    identity=math.inf,
    order=-1,
    ufunc=np.minimum,
    latex=r"\min",
    torch=minimum.FUNCTION.torch,
    torch_reduce="x.amin(axes)",
    torch_repeat="x",
    torch_scatter="amin",
    triton=minimum.FUNCTION.triton,
    opposite="max",
)
