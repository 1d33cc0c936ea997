"""`python -m einderive.frontend.bench.ceilings`: a machine's ceilings, for `matching.cost`.

bandwidth     bytes read and written per second by a copy of 64 MiB
matmul        2*n^3 / seconds of a float32 n x n product, n = 1024
convolution   2*points*channels*filters*9 / seconds of a 3 x 3 convolution
vector        additions per second of a sum of two 4 MiB arrays (in cache where that is large)
call          seconds of adding two arrays of one element
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from statistics import median

import torch

from einderive.frontend.timed.timing import timed


def ceilings(device: str) -> dict[str, float]:
    """The figures for a device, medians of 25 runs each."""
    cuda = device == "cuda"

    def seconds(run: Callable[[], object], repeat: int = 25) -> float:
        run()
        return median(timed(run, cuda) for _ in range(repeat))

    source = torch.randn(1 << 24, device=device)
    target = torch.empty_like(source)
    square = torch.randn(1024, 1024, device=device)
    image = torch.randn(1, 128, 56, 56, device=device)
    kernel = torch.randn(128, 128, 3, 3, device=device)
    left, right = torch.randn(2, 1 << 20, device=device)
    out = torch.empty_like(left)
    one = torch.ones(1, device=device)
    convolution = partial(torch.nn.functional.conv2d, image, kernel, padding=1)
    tall, thin = torch.randn(4096, 4096, device=device), torch.randn(32, 4096, device=device)
    return {
        "bandwidth": 2 * source.nbytes / seconds(lambda: target.copy_(source)),
        "matmul": 2 * 1024**3 / seconds(lambda: square @ square),
        "convolution": 2 * 56**2 * kernel.numel() / seconds(convolution),
        "vector": left.numel() / seconds(lambda: torch.add(left, right, out=out)),
        "call": seconds(lambda: torch.add(one, one), 200),
        "long": seconds(lambda: tall @ thin.T),
        "wide": seconds(lambda: thin @ tall.T),
    }


def main() -> int:
    """Print the figures of the GPU where there is one, of the CPU otherwise."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    print(f"{device}, torch {torch.__version__}, {torch.get_num_threads()} threads")
    for name, value in ceilings(device).items():
        units = {"bandwidth": "bytes/s", "call": "s", "long": "s", "wide": "s"}
        unit = units.get(name, "operations/s")
        print(f"{name:12} {value:.3g} {unit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
