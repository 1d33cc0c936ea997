"""Whether the condition holds everywhere; of nothing it is true.

A number is a condition too: it holds where it is not 0, and so it does for NaN, as in NumPy.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "all[k](x) = sum[k](where(x, 0, 1)) == 0",
    numpy="np.all(x, axis)",
    torch="torch.all(x != 0, axis)",
)
