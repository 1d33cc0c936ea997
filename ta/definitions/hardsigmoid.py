"""(x + 3)/6 between 0 and 1: lines in the place of the sigmoid."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "hardsigmoid(x) = minimum(relu(x + 3), 6)/6",
    numpy="np.clip(x / 6 + 0.5, 0, 1)",
    torch="F.hardsigmoid(x)",
)
