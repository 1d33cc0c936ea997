"""The logarithm of the sum of exponentials; the maximum is subtracted, so nothing overflows.

An infinite maximum is not subtracted: where all numbers are -inf, the value is -inf.
"""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "logsumexp[k](x) = finite(max[k](x)) + log(sum[k](exp(x - finite(max[k](x)))))",
    torch="torch.logsumexp(x, axis)",
)
