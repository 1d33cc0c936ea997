"""Whether x is negative, as a bool.  0 and -0 both count as positive."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "signbit(x) = where(x < 0, 1, 0)", numpy="np.signbit(x)", torch="torch.signbit(x)"
)
