"""The number nearest to x between -1 and 1, or between other bounds."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "hardtanh(x, lo=-1, hi=1) = minimum(maximum(x, lo), hi)",
    numpy="np.clip(x, lo, hi)",
    torch="torch.clamp(x, lo, hi)",
)
