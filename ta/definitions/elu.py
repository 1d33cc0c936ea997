"""x where it is positive, else alpha*(e^x - 1)."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "elu(x, alpha=1) = relu(x) + alpha*expm1(minimum(x, 0))",
    numpy="np.where(x > 0, x, alpha * np.expm1(x))",
    torch="F.elu(x, alpha)",
)
