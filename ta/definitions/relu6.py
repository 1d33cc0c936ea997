"""The number nearest to x between 0 and 6."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "relu6(x) = minimum(relu(x), 6)", numpy="np.clip(x, 0, 6)", torch="F.relu6(x)"
)
