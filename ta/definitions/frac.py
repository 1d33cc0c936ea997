"""x without its whole part; it has the sign of x."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("frac(x) = x - trunc(x)", numpy="x - np.trunc(x)", torch="torch.frac(x)")
