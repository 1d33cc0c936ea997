"""The integer with the binary digits of x and y combined: 1 where they differ.

A negative number has infinitely many leading digits 1, as in two's complement.  Of bools, it is a
bool.
"""

import operator

import numpy as np

from einderive.ta.functions.digits import of_digits

FUNCTION = of_digits(
    "bitwise_xor",
    operator.xor,
    np.bitwise_xor,
    symmetric=True,
    latex=r"{0} \oplus {1}",
    triton="({0} ^ {1})",
)
