"""The integer with the binary digits of x and y combined: 1 where at least one is 1.

A negative number has infinitely many leading digits 1, as in two's complement.  Of bools, it is a
bool.
"""

import operator

import numpy as np

from einderive.ta.functions.digits import of_digits

FUNCTION = of_digits(
    "bitwise_or",
    operator.or_,
    np.bitwise_or,
    symmetric=True,
    latex=r"{0} \mathbin{{\mathrm{{or}}}} {1}",
    triton="({0} | {1})",
)
