"""Names of the formulas for which something of the notation is still missing."""

NOT_YET: frozenset[str] = frozenset(
    {
        "Ising energy of a periodic lattice",
        "area under the curve, by pairs",
        "exponential smoothing by weights",
        "flip, by the size",
        "rotary positions",
    }
)
