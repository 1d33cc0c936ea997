"""The number of values of k for which the condition holds.

A number counts as a condition: it holds unless the number is 0.  So it holds for NaN, as in NumPy.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "count[k](x) = sum[k](where(x, 1, 0))",
    numpy="np.count_nonzero(x, axis)",
    torch="torch.count_nonzero(x, axis)",
)
