"""Whether the condition holds for some value of k.  It is false if k has no values.

A number counts as a condition: it holds unless the number is 0.  So it holds for NaN, as in NumPy.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "any[k](x) = count[k](x) != 0", numpy="np.any(x, axis)", torch="torch.any(x != 0, axis)"
)
