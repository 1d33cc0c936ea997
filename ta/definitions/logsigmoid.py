"""The logarithm of the sigmoid, which does not overflow."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "logsigmoid(x) = -softplus(-x)", numpy="-np.logaddexp(0, -x)", torch="F.logsigmoid(x)"
)
