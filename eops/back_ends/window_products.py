"""Convolutions with large kernels, whose long sums of products a kernel of its own adds up."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import torch

from einderive.eops.back_ends.compilers import installed, usable
from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.library import by_name
from einderive.eops.library.conv import CONVOLUTIONS
from einderive.eops.library.weight_gradient import is_large
from einderive.eops.library.window_products import is_long, products_by
from einderive.eops.opaque import opaque
from einderive.ta.ir.operator import Binding

if TYPE_CHECKING:
    from einderive.eops.cpu_kernels.products.strided import Strided

NAMES: Final = frozenset(operator.name for operator in CONVOLUTIONS)


def has_long_sums(binding: Binding | None, operator: str | None) -> bool:
    """Whether the stage of this operator and binding is a convolution with a large kernel, on a
    machine where kernels are compiled."""
    if binding is None or operator not in NAMES or not installed():
        return False
    domain = binding.scope.domain
    outputs, kernel = (
        [domain[place].extent for place in places]
        for places in zip(*((w.loop, w.reduction) for w in binding.windows), strict=True)
    )
    work = prod(extent for extent in binding.scope.extents)
    return is_large(kernel, outputs) and is_long(work, kernel[-1]) and usable()


def _lower(task: Task) -> Run | None:
    if task.device != "cpu" or task.weights or not has_long_sums(task.binding, task.operator):
        return None
    assert task.binding is not None
    run: Run = by_name(task.operator).launch(task.binding)

    def by_kernels(buffers: Any) -> torch.Tensor:
        with products_by(_summed):
            return run(buffers)

    return by_kernels


def _summed(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor | None:
    """See `window_products.Products`."""
    from einderive.eops.cpu_kernels.products.strided import added

    x, g = x.resolve_neg(), g.resolve_neg()
    if _kernel_for(x, g) is None:
        return None
    z: torch.Tensor = _products(x, g)[0]
    return added(z, x, g, g.ndim - 2)


def _kernel_for(x: torch.Tensor, g: torch.Tensor) -> Strided | None:
    from einderive.eops.cpu_kernels.products.strided import kernel_for

    return kernel_for(x, g, g.ndim - 2)


def _called(x: torch.Tensor, g: torch.Tensor) -> Any:
    kernel = _kernel_for(x, g)
    assert kernel is not None
    return kernel(x, g)


_products = opaque(_called, _kernel_for)

WINDOW_PRODUCTS = BackEnd(_lower)
