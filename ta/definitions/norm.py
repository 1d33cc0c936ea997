"""The length of a vector: the root of the sum of squares."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "norm[k](x) = sqrt(sum[k](x^2))",
    numpy="np.linalg.norm(x, axis=axis)",
    torch="torch.linalg.vector_norm(x, dim=axis)",
)
