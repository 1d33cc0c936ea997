"""The first index of the least number.  If a NaN occurs, it is the index of the first NaN, as in
NumPy."""

from einderive.ta.definitions.data import Definition

# 2^53 stands for no index: it is never the least, as one index at least is taken.
DEFINITION = Definition(
    "argmin[k](x) = min[k](where(x == min[k](x) or isnan(x), k, 9007199254740992))",
    numpy="np.argmin(x, axis)",
    torch="torch.argmin(x, axis)",
)
