"""Exponentials of the opposites divided by their sum: the least number has the largest share."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "softmin[k](x) = exp(min[k](x) - x)/sum[k](exp(min[k](x) - x))",
    free=True,
    torch="F.softmin(x, axis)",
)
