"""The arithmetic mean."""

from einderive.ta.definitions.data import Definition

DEFINITION = Definition(
    "mean[k](x) = sum[k](x)/size(k)", numpy="np.mean(x, axis)", torch="torch.mean(x, axis)"
)
