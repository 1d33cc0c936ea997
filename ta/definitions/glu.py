"""A gated linear unit, a*sigmoid(b).  torch takes a and b as the two halves of one tensor."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("glu(a, b) = a*sigmoid(b)", numpy="a / (1 + np.exp(-b))")
