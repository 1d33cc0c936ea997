"""x times its hard sigmoid."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "hardswish(x) = x*minimum(relu(x + 3), 6)/6",
    numpy="x * np.clip(x / 6 + 0.5, 0, 1)",
    torch="F.hardswish(x)",
)
