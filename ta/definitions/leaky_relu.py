"""x where it is positive, else slope*x.  With a tensor as the slope, this is PReLU."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "leaky_relu(x, slope=0.01) = relu(x) + slope*minimum(x, 0)",
    numpy="np.where(x > 0, x, slope * x)",
    torch="F.leaky_relu(x, slope)",
)
