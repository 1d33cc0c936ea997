"""`python -m einderive.frontend.bench.narrow_products`: products of matrices with few columns.

    Z[m,n] = X[m,k] * Y[k,n]

Seconds of `torch.mm`, of the same product transposed, of NumPy's, and of the kernel that compiled
functions use (`eops.cpu_kernels.products`), interleaved, on one thread and on all.  NumPy's library
has threads of its own, which wait for work for a while: it is measured after a pause.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

import numpy as np
import torch

from einderive.eops.cpu_kernels.products.kernel import arranged, kernel_for
from einderive.frontend.text import duration
from einderive.frontend.timed.timing import LONG_SAMPLE, Timing, race

SIZES: Final = (
    *((512, 512, columns) for columns in (2, 4, 10, 16, 32)),
    (4096, 64, 8),
    (100_000, 3, 3),
    (2048, 2048, 8),
)
"""Rows, terms, columns."""
APART: Final = 0.1
HEAD: Final = (
    f"{'rows':>7} {'terms':>5} {'columns':>7} {'torch.mm':>9} {'transposed':>10} {'kernel':>9}"
)


def products(sizes: tuple[int, int, int], seconds: float = 0.3) -> Iterator[float]:
    """The seconds of `torch.mm`, transposed, and of the kernel; then those of NumPy."""
    rows, terms, columns = sizes
    x, y = torch.randn(rows, terms), torch.randn(terms, columns)
    kernel = kernel_for(x, arranged(x, y)).launcher()
    torch.testing.assert_close(kernel(x, arranged(x, y))[0], x @ y, rtol=1e-3, atol=1e-3)
    runs = (
        lambda: torch.mm(x, y),
        lambda: torch.mm(y.T, x.T),
        lambda: kernel(x, arranged(x, y)),
    )
    found: list[Timing] = race(runs, seconds=seconds, sample=LONG_SAMPLE)
    yield from (each.seconds for each in found)
    arrays = x.numpy(), y.numpy()
    (alone,) = race([lambda: np.matmul(*arrays)], seconds=seconds, sample=LONG_SAMPLE, apart=APART)
    yield alone.seconds


def main() -> int:
    """Print the table for one thread and for all."""
    every = torch.get_num_threads()
    print(f"torch {torch.__version__}, numpy {np.__version__}, float32")
    for threads in sorted({1, every}):
        torch.set_num_threads(threads)
        print(f"\n{threads} of torch's threads, as many of NumPy's as its library takes")
        print(f"{HEAD} {'NumPy':>9}")
        for sizes in SIZES:
            found = " ".join(f"{duration(seconds):>9}" for seconds in products(sizes))
            print(f"{sizes[0]:>7} {sizes[1]:>5} {sizes[2]:>7} {found}", flush=True)
    torch.set_num_threads(every)
    return 0


if __name__ == "__main__":
    sys.exit(main())
