"""1/x."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "reciprocal(x) = 1/x", numpy="np.reciprocal(x)", torch="torch.reciprocal(x)"
)
