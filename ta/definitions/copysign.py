"""|x| with the sign of y; 0 counts as positive, also -0."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "copysign(x, y) = where(y < 0, -abs(x), abs(x))",
    numpy="np.copysign(x, y)",
    torch="torch.copysign(x, y)",
)
