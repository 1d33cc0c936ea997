"""x - tanh(x)."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "tanhshrink(x) = x - tanh(x)", numpy="x - np.tanh(x)", torch="F.tanhshrink(x)"
)
