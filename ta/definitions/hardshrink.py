"""x, and 0 where |x| <= lambd."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "hardshrink(x, lambd=0.5) = where(abs(x) <= lambd, 0, x)",
    numpy="np.where(np.abs(x) <= lambd, 0, x)",
    torch="F.hardshrink(x, lambd)",
)
