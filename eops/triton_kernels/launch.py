"""Launching a stage's kernel again: what the first launch compiled, without the way to it.

    run = launcher(scope);  run(*tensors)  ->  the stage's output, in memory of its own

Triton finds the compiled kernel anew on every launch, from the arguments' types and alignment; that
costs the host more than a small kernel runs.  Where the tensors lie on the current device, have
types that were met before, and start at multiples of 16 bytes, as fresh memory does, it is the one
of the first such launch; any others go the usual way (`eops.triton_kernels.build`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import torch

from einderive.eops.triton_kernels.build import Kernel, build
from einderive.ta.ir.node import Scope
from einderive.ta.printing.show import show

ALIGNMENT: Final = 16
"""Bytes: a kernel compiled for pointers at multiples of this is right for such pointers only."""
KEPT: Final = 512
"""Kernels that are kept, with their configurations, for other programs with the same stage."""

Launch = Callable[..., torch.Tensor]
Types = tuple[torch.dtype, ...]


@lru_cache(maxsize=KEPT)
def _kernel(scope: Scope, dtypes: Types) -> Kernel:
    names = tuple(str(dtype).removeprefix("torch.") for dtype in dtypes)
    return build(scope, names, formula=show(scope))


def launcher(scope: Scope) -> Launch:
    """The stage as a function of its sources' tensors, in order of first occurrence: of the
    sources' shapes, any strides and element types, all on one device.  Raises BuildError."""
    linked: dict[tuple[tuple[int, ...], Types], Launch] = {}

    def run(*tensors: torch.Tensor) -> torch.Tensor:
        dense = [tensor.contiguous().resolve_neg() for tensor in tensors]
        devices = tuple([tensor.get_device() for tensor in dense])
        dtypes = tuple([tensor.dtype for tensor in dense])
        found = linked.get((devices, dtypes))
        if found is not None and aligned(dense) and torch.cuda.current_device() == devices[0]:
            return found(*dense)
        kernel = _kernel(scope, dtypes)
        out = kernel(*dense)
        if out.is_cuda and out.numel() and aligned([*dense, out]):
            linked[devices, dtypes] = _again(kernel, dense, out)
        return out

    return run


def aligned(tensors: list[torch.Tensor]) -> bool:
    """Do all start at multiples of ALIGNMENT?"""
    return all(tensor.data_ptr() % ALIGNMENT == 0 for tensor in tensors)


def _again(kernel: Kernel, dense: list[torch.Tensor], out: torch.Tensor) -> Launch:
    """Launches of what Triton compiles for such tensors, on the current stream."""
    config = kernel.config(dense, out)
    start = kernel.launch(config, dense, out)[kernel.plan.grid(config), 1, 1]
    blocks = tuple(size for _, size in config.blocks)
    shape, dtype, device = out.shape, out.dtype, out.device

    def run(*tensors: torch.Tensor) -> torch.Tensor:
        result = torch.empty(shape, dtype=dtype, device=device)
        start(*tensors, result, *blocks)
        return result

    return run
