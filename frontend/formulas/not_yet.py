"""Names of the formulas for which something of the notation is still missing."""

NOT_YET: frozenset[str] = frozenset(
    {
        "Ising energy of a periodic lattice",
        "area under the curve, by pairs",
        "charge on a grid, nearest point",
        "confusion matrix",
        "degrees",
        "exponential smoothing by weights",
        "flip, by the size",
        "histogram of bin numbers",
        "histogram of grey levels",
        "mean of the neighbours",
        "means of groups, taken away",
        "new centres of k-means",
        "rotary positions",
        "sparse matrix in coordinates, times a vector",
        "sum of messages",
        "sums of groups",
        "weighted messages",
    }
)
