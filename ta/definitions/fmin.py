"""The lesser of a and b.  If one of them is NaN, the value is the other one."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "fmin(a, b) = where(isnan(a), b, where(isnan(b), a, minimum(a, b)))",
    numpy="np.fmin(a, b)",
    torch="torch.fmin(a, b)",
)
