"""Seconds and digits of differences as written, centred and multiplied out, and repaired.

python -m tests.eops.repaired_times [n]        n points of 128 coordinates on each side
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from einderive.derivations.matching.match import match
from einderive.eops.expanded import expanded
from einderive.eops.library.repaired import REPAIRED
from einderive.eops.torch_views.stage import lower, lower_all
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.operator import Binding
from einderive.ta.notation.parse import parse

ROUNDS = 5
Run = Callable[[Mapping[Any, torch.Tensor]], torch.Tensor]


def families(n: int, k: int, device: str) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Pairs of operands of n x k."""
    torch.manual_seed(0)
    a, b = torch.randn(2, n, k, device=device)
    centres = 10 * torch.randn(10, k, device=device)
    where = torch.randint(10, (2, n), device=device)
    sides = 2.0 * torch.randint(2, (2, n, 1), device=device) - 1
    return {
        "normal": (a, b),
        "offset 1000": (a + 1000, b + 1000),
        "ten clusters": (a + centres[where[0]] + 1000, b + centres[where[1]] + 1000),
        "itself, offset 1000": (a + 1000, a + 1000),
        "two clusters at +-1000": (a + 1000 * sides[0], b + 1000 * sides[1]),
    }


def seconds(call: Callable[[], object], device: str) -> float:
    def once() -> float:
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        call()
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - began

    return min(once() for _ in range(ROUNDS))


def main(n: int = 1024, k: int = 128) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    (scope,) = parse("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (n, k), "B": (n, k)}).roots()
    bound, fast = match(REPAIRED, scope), expanded(scope)
    assert isinstance(bound, Binding)
    assert fast is not None
    tensors = {read.source.name: read.source for read in bound.operands}  # type: ignore[union-attr]
    runs: dict[str, Run] = {
        "as written": lambda x: (x[tensors["A"]][:, None] - x[tensors["B"]]).pow_(2).sum(2),
        "as written, in blocks": lower(scope),
        "centred": lower_all(fast.fast),
        "repaired": REPAIRED.launch(bound),
    }
    print(f"{n} x {n} x {k}, {device}, {torch.get_num_threads()} threads, float32")
    print(f"{'data':24}" + "".join(f"{name:>32}" for name in runs))
    for name, (a, b) in families(n, k, device).items():
        given: dict[Tensor, torch.Tensor] = {tensors["A"]: a, tensors["B"]: b}  # type: ignore[dict-item]
        exact = lower(scope)({tensor: value.double() for tensor, value in given.items()})
        line = f"{name:24}"
        for run in runs.values():
            off = ((run(given) - exact).abs() / exact.clamp_min(1e-30))[exact > 0].max()
            taken = seconds(partial(run, given), device)
            line += f"{taken * 1e3:18.3f} ms {float(off):11.1e}"
        print(line)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
