"""Whether the condition holds anywhere; of nothing it is false.

A number is a condition too: it holds where it is not 0, and so it does for NaN, as in NumPy.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "any[k](x) = count[k](x) != 0",
    numpy="np.any(x, axis)",
    torch="torch.any(x != 0, axis)",
)
