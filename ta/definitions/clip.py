"""The number nearest to x between lo and hi; hi where lo is greater."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "clip(x, lo, hi) = minimum(maximum(x, lo), hi)",
    numpy="np.clip(x, lo, hi)",
    torch="torch.clamp(x, lo, hi)",
)
