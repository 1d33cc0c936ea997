"""The greatest of two or more numbers, elementwise; NaN where one of them is."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "max(a, b, ...) = maximum(a, b)", numpy="np.maximum(a, b)", torch="torch.maximum(a, b)"
)
