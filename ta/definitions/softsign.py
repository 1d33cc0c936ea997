"""x/(1 + |x|)."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "softsign(x) = x/(1 + abs(x))", numpy="x / (1 + np.abs(x))", torch="F.softsign(x)"
)
