"""`python -m einderive.frontend.bench.kernels.functions exp pow`: float32 functions beside torch.

    ratio    time of torch's operation / time of the kernel, one array, by turns, the least of each
    NumPy    likewise of NumPy's operation
    ulp      the largest error in units in the last place, beside torch in float64

The operands of the error are numbers of all magnitudes, and as many about 0 and 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Final

import numpy as np
import torch

from einderive.eops.cpu_kernels.build import Kernel, build
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.ta.functions import FUNCTIONS
from einderive.ta.notation.parse import parse

NAMES: Final = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "pow", "hypot"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh"),
    *("acosh", "atanh", "sigmoid", "erf", "erfc", "erfinv"),
)
ELEMENTS: Final = 65_536
OPERANDS: Final = 1 << 20
ROUNDS: Final = 300


def kernel_of(name: str, elements: int) -> Kernel:
    """The kernel that applies the function to arrays."""
    operands = "AB"[: FUNCTIONS[name].arity]
    shapes = dict.fromkeys(operands, (elements,))
    read = ", ".join(f"{operand}[i]" for operand in operands)
    (stage,) = parse(f"Y[i] = {name}({read})", shapes, "float32").roots()
    group = Group.alone(stage)
    return build(group, dense(group), alike(group, "float32"))


def ratios(name: str) -> tuple[float, ...]:
    """The ratios of the least times, for torch and, where it has this name, for NumPy."""
    data = [torch.rand(ELEMENTS) for _ in range(FUNCTIONS[name].arity)]
    arrays = [each.numpy() for each in data]
    own, by_torch, by_numpy = (
        kernel_of(name, ELEMENTS),
        getattr(torch, name),
        getattr(np, name, None),
    )
    runs: list[Callable[[], object]] = [lambda: own(*data), lambda: by_torch(*data)]
    if by_numpy is not None:
        runs.append(partial(by_numpy, *arrays))
    least = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            started = perf_counter_ns()
            run()
            least[k] = min(least[k], perf_counter_ns() - started)
    return tuple(other / least[0] for other in least[1:])


def largest_error(name: str) -> float:
    """In units in the last place, where the result is a normal number."""
    generator = torch.Generator().manual_seed(0)
    kernel, worst = kernel_of(name, OPERANDS), 0.0
    drawn = torch.randn(OPERANDS, generator=generator)
    magnitudes = torch.pow(10.0, torch.rand(OPERANDS, generator=generator) * 76 - 38)
    more = [drawn.flip(0)] * (FUNCTIONS[name].arity - 1)
    for data in (drawn, drawn * 30, 1 + drawn * 1e-3, drawn.sign() * magnitudes):
        exact = getattr(torch, name)(*(each.double() for each in (data, *more)))
        (found,) = kernel(data, *more)
        size = exact.abs().float()
        normal = size.isfinite() & (size >= torch.finfo(torch.float32).tiny)
        unit = (torch.nextafter(size, torch.tensor(float("inf"))).double() - size.double()).abs()
        off = (found.double() - exact).abs() / unit
        worst = max(worst, float(off[normal].max()))
    return worst


def main(names: Sequence[str]) -> int:
    """Prints a line for each function."""
    torch.set_num_threads(1)
    for name in names or NAMES:
        found = "   ".join(map("{} {:.2f}".format, ("ratio", "NumPy"), ratios(name)))
        print(f"{name:8} {found}   ulp {largest_error(name):.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
