"""The sum; 0 over an empty range."""

from fractions import Fraction

import numpy as np

from einderive.ta.functions.data import Reduction

REDUCER = Reduction(
    "sum",
    identity=Fraction(0),
    order=0,
    ufunc=np.add,
    latex=r"\sum",
    torch="torch.add",
    torch_reduce="x.sum(axes, dtype=dtype)",
    torch_repeat="x * n",
    torch_scatter="sum",
    triton="{0} + {1}",
    spellings=("S", "Σ"),
)
