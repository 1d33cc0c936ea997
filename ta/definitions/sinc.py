"""sin(pi*x)/(pi*x), and 1 where x is 0."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "sinc(x) = where(x == 0, 1, sin(pi*x)/(pi*x))", numpy="np.sinc(x)", torch="torch.sinc(x)"
)
