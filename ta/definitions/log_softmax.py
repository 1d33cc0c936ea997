"""The logarithm of the softmax, without the overflow and the rounding of its parts.

Where all numbers are -inf, or one is inf, the values are NaN, as in torch.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "log_softmax[k](x) = x - max[k](x) - log(sum[k](exp(x - max[k](x))))",
    free=True,
    torch="torch.log_softmax(x, axis)",
)
