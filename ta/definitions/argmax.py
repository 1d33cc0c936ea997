"""The first index of the greatest number.  If a NaN occurs, it is the index of the first NaN, as in
NumPy."""

from einderive.ta.definitions.data import Definition

# 2^53 stands for no index: it is never the least, as one index at least is taken.
DEFINITION = Definition(
    "argmax[k](x) = min[k](where(x == max[k](x) or isnan(x), k, 9007199254740992))",
    numpy="np.argmax(x, axis)",
    torch="torch.argmax(x, axis)",
)
