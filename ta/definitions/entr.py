"""The entropy of one probability, -x*log(x): 0 at 0, -inf below."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "entr(x) = where(x > 0, -x*log(x), where(x == 0, 0, where(x < 0, -inf, x)))",
    torch="torch.special.entr(x)",
)
