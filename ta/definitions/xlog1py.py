"""x*log(1 + y), and 0 where x is 0, unless y is NaN."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "xlog1py(x, y) = where(x == 0 and y == y, 0, x*log1p(y))", torch="torch.special.xlog1py(x, y)"
)
