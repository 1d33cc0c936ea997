"""The root of the variance.

NumPy's default is `ddof=0`, as here; torch's default `correction` is 1.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "std[k](x, ddof=0) = sqrt(var[k](x, ddof=ddof))",
    numpy="np.std(x, axis, ddof=ddof)",
    torch="torch.std(x, axis, correction=ddof)",
)
