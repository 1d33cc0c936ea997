"""The number between lo and hi that is nearest to x.  If lo is greater than hi, the value is hi."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "clip(x, lo, hi) = minimum(maximum(x, lo), hi)",
    numpy="np.clip(x, lo, hi)",
    torch="torch.clamp(x, lo, hi)",
)
