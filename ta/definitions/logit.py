"""The inverse of the sigmoid."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition("logit(x) = log(x/(1 - x))", torch="torch.logit(x)")
