"""x*log(y), and 0 where x is 0, as in an entropy."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("xlogy(x, y) = where(x == 0, 0, x*log(y))", torch="torch.xlogy(x, y)")
