"""x moved towards 0 by lambd, and 0 where it is nearer than that."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "softshrink(x, lambd=0.5) = x - minimum(maximum(x, -lambd), lambd)",
    numpy="x - np.clip(x, -lambd, lambd)",
    torch="F.softshrink(x, lambd)",
)
