"""x where it is greater than the threshold, else the value."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "threshold(x, threshold, value) = where(x <= threshold, value, x)",
    numpy="np.where(x <= threshold, value, x)",
)
