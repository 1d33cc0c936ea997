"""The integer with the binary digits of x and y combined: 1 only where both are 1.

A negative number has infinitely many leading digits 1, as in two's complement.  Of bools, it is a
bool.
"""

import operator

import numpy as np

from einderive.ta.functions.digits import of_digits

FUNCTION = of_digits(
    "bitwise_and",
    operator.and_,
    np.bitwise_and,
    symmetric=True,
    latex=r"{0} \mathbin{{\mathrm{{and}}}} {1}",
    triton="({0} & {1})",
)
