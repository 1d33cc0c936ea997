"""The integer with the binary digits of x and y combined: 1 where at least one is 1.

A negative number has infinitely many leading digits 1, as in two's complement.  Of bools, it is a
bool.
"""

import operator

import numpy as np

from einderive.ta.functions.data import Function, of_digits, of_whole_balls, of_whole_floats

FUNCTION = Function(
    "bitwise_or",
    of_whole_floats(np.bitwise_or, np.bitwise_or),
    arity=2,
    exact=(exact := of_digits(operator.or_)),
    ball=of_whole_balls(exact),
    digits=True,
    whole=True,
    partial=True,
    symmetric=True,
    latex=r"{0} \mathbin{{\mathrm{{or}}}} {1}",
    torch_stage="torch.bitwise_or({0}.long(), {1}.long())",
    triton="({0} | {1})",
)
