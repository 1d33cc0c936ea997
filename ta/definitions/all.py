"""Whether the condition holds for every value of k.  It is true if k has no values.

A number counts as a condition: it holds unless the number is 0.  So it holds for NaN, as in NumPy.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "all[k](x) = sum[k](where(x, 0, 1)) == 0",
    numpy="np.all(x, axis)",
    torch="torch.all(x != 0, axis)",
)
