"""Of a gated linear unit: a*sigmoid(b).  torch has both in one tensor."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "glu(a, b) = a*sigmoid(b)",
    numpy="a / (1 + np.exp(-b))",
)
