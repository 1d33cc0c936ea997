"""x*x."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("square(x) = x^2", numpy="np.square(x)", torch="torch.square(x)")
