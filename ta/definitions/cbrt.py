"""The cube root, of negative numbers too."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("cbrt(x) = sign(x)*abs(x)^(1/3)", numpy="np.cbrt(x)")
