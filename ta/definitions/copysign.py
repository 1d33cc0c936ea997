"""|x| with the sign of y.  0 and -0 both count as positive."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "copysign(x, y) = where(y < 0, -abs(x), abs(x))",
    numpy="np.copysign(x, y)",
    torch="torch.copysign(x, y)",
)
