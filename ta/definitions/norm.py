"""The length of a vector: the root of the sum of squared magnitudes.

For a real x, `real(x*conj(x))` is `x^2`.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "norm[k](x) = sqrt(sum[k](real(x*conj(x))))",
    numpy="np.linalg.norm(x, axis=axis)",
    torch="torch.linalg.vector_norm(x, dim=axis)",
)
