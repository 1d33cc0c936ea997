"""The least of two or more numbers, elementwise; NaN where one of them is."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "min(a, b, ...) = minimum(a, b)", numpy="np.minimum(a, b)", torch="torch.minimum(a, b)"
)
