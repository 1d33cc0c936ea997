"""x*tanh(log(1 + e^x))."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "mish(x) = x*tanh(softplus(x))", numpy="x * np.tanh(np.logaddexp(x, 0))", torch="F.mish(x)"
)
