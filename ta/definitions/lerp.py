"""The number from a to b at the share w: linear interpolation."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "lerp(a, b, w) = a + w*(b - a)",
    numpy="a + w * (b - a)",
    torch="torch.lerp(a, b, w)",
)
