"""The product; 1 over an empty range."""

from fractions import Fraction

import numpy as np

from einderive.ta.functions.data import Reduction

REDUCER = Reduction(
    "prod",
    identity=Fraction(1),
    order=0,
    ufunc=np.multiply,
    latex=r"\prod",
    torch="torch.mul",
    torch_reduce="x.flatten(axes[0]).prod(-1, dtype=dtype)",
    torch_repeat="x ** n",
    torch_scatter="prod",
    triton="{0} * {1}",
)
