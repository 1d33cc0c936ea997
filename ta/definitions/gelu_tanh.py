"""GELU with tanh in the place of erf, as `gelu(x, approximate="tanh")` in torch."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "gelu_tanh(x) = x*sigmoid(1.5957691216057308*(x + 0.044715*x^3))",
    torch="F.gelu(x, approximate='tanh')",
)
