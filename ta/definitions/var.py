"""The mean squared distance from the mean; the sum is divided by `size(k) - ddof`.

NumPy's default is `ddof=0`, as here; torch's default `correction` is 1.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "var[k](x, ddof=0) = sum[k]((x - mean[k](x))^2)/(size(k) - ddof)",
    numpy="np.var(x, axis, ddof=ddof)",
    torch="torch.var(x, axis, correction=ddof)",
)
