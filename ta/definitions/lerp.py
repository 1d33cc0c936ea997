"""Linear interpolation between a (at w = 0) and b (at w = 1)."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "lerp(a, b, w) = a + w*(b - a)", numpy="a + w * (b - a)", torch="torch.lerp(a, b, w)"
)
