"""The probability of a number below x under the standard normal distribution."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("ndtr(x) = erfc(-x/sqrt(2))/2", torch="torch.special.ndtr(x)")
