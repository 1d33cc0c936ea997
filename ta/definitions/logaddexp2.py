"""log2(2^x + 2^y), where neither power overflows."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "logaddexp2(x, y) = logaddexp(x*log(2), y*log(2))/log(2)",
    numpy="np.logaddexp2(x, y)",
    torch="torch.logaddexp2(x, y)",
)
