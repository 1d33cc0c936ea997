"""How often the condition holds.

A number is a condition too: it holds where it is not 0, and so it does for NaN, as in NumPy.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "count[k](x) = sum[k](where(x, 1, 0))",
    numpy="np.count_nonzero(x, axis)",
    torch="torch.count_nonzero(x, axis)",
)
