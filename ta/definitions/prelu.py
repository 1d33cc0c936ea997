"""x where it is positive, else weight*x; the weight may be a tensor."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "prelu(x, weight) = relu(x) + weight*minimum(x, 0)", numpy="np.where(x > 0, x, weight * x)"
)
