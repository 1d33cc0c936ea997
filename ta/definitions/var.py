"""The mean squared distance from the mean; the sum is divided by `size(k) - ddof`.

NumPy's default is `ddof=0`, as here; torch's default `correction` is 1.  The distance of complex
numbers is the magnitude of their difference: for a real d, `real(d*conj(d))` is `d^2`.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "var[k](x, ddof=0) = sum[k](real((x - mean[k](x))*conj(x - mean[k](x))))/(size(k) - ddof)",
    numpy="np.var(x, axis, ddof=ddof)",
    torch="torch.var(x, axis, correction=ddof)",
)
