"""`python -m einderive.frontend.bench.kernels.open_sizes`: what sizes as arguments cost.

    time of the kernel that has its sizes in its text / time of the one that takes them as arguments

Both kernels of a stage run by turns; the ratio is that of the least times.  Every third stage of
`frontend.stages`, dense operands, one thread.
"""

from __future__ import annotations

import sys
from statistics import geometric_mean
from time import perf_counter_ns
from typing import Any, Final

import torch

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.frontend.bench.kernels.loading import ELEMENTS, groups

ROUNDS: Final = 60
WORST: Final = 5


def raced(kernels: tuple[Kernel, Kernel], tensors: list[torch.Tensor]) -> float:
    """The ratio of the least times."""
    least = [float("inf")] * len(kernels)
    for _ in range(ROUNDS):
        for k, kernel in enumerate(kernels):
            started = perf_counter_ns()
            kernel(*tensors)
            least[k] = min(least[k], perf_counter_ns() - started)
    return least[0] / least[1]


def ratio(group: Group, operands: list[torch.Tensor]) -> float | None:
    """That of one group; None where no kernel has all its types."""
    typing: Any = typing_of(group, [tensor.dtype for tensor in operands])
    if typing is None:
        return None
    kernels = build(group, dense(group), typing), build(group, dense(group), typing, True)
    return raced(kernels, operands)


def main() -> int:
    """Prints the mean over the stages, and the worst of them."""
    torch.set_num_threads(1)
    found = list[tuple[float, str]]()
    for group, types in groups():
        shapes = [[side.extent for side in source.ranges] for source in group.operands]
        pairs = zip(shapes, types, strict=True)
        data = [(torch.rand(shape) * 4 + 1).to(getattr(torch, kind)) for shape, kind in pairs]
        one = ratio(group, data)
        if one is not None:
            found.append((one, str(group.outputs[0])))
    mean = geometric_mean(one for one, _ in found)
    print(f"{ELEMENTS} elements: {len(found)} stages, {mean:.2f} in the geometric mean")
    for one, text in sorted(found)[:WORST]:
        print(f"    {one:.2f}  {text[:80]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
