"""The greater of a and b; where one of them is NaN, the other one."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "fmax(a, b) = where(isnan(a), b, where(isnan(b), a, maximum(a, b)))",
    numpy="np.fmax(a, b)",
    torch="torch.fmax(a, b)",
)
