"""The greater of a and b.  If one of them is NaN, the value is the other one."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "fmax(a, b) = where(isnan(a), b, where(isnan(b), a, maximum(a, b)))",
    numpy="np.fmax(a, b)",
    torch="torch.fmax(a, b)",
)
