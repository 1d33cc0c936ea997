"""0 for negative x, 1 for positive x, and y where x is 0."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "heaviside(x, y) = where(x == 0, y, where(x < 0, 0, where(x > 0, 1, x)))",
    numpy="np.heaviside(x, y)",
    torch="torch.heaviside(x, y)",
)
