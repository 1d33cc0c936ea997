"""x where it is positive, else alpha*(e^(x/alpha) - 1): a slope that does not jump."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "celu(x, alpha=1) = relu(x) + alpha*expm1(minimum(x, 0)/alpha)",
    numpy="np.where(x > 0, x, alpha * np.expm1(x / alpha))",
    torch="F.celu(x, alpha)",
)
