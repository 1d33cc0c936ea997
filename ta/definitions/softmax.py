"""Exponentials divided by their sum; the maximum is subtracted, so nothing overflows.

Where all numbers are -inf, or one is inf, the values are NaN, as in torch.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "softmax[k](x) = exp(x - max[k](x))/sum[k](exp(x - max[k](x)))",
    free=True,
    torch="torch.softmax(x, axis)",
)
