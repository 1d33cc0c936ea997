"""The greatest integer that is not above x."""

import math

import numpy as np

from einderive.ta.functions.data import Function, unchanged

FUNCTION = Function(
    "floor",
    np.floor,
    exact=unchanged(math.floor),
    whole=True,
    at_zero=0,
    steps=True,
    turns=(1.0,),
    latex=r"\left\lfloor {0} \right\rfloor",
    triton_whole="{0}",
    ball=lambda x: x.floor(),
    derivative=("0",),
)
