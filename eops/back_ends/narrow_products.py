"""Products of matrices with few columns or few rows as kernels of their own on a CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import torch

from einderive.eops.back_ends.compilers import installed, usable
from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.library.matmul import MATMUL
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.contract import NARROW, narrow_by
from einderive.ta.ir.operator import Binding

if TYPE_CHECKING:
    from einderive.eops.cpu_kernels.products.kernel import Narrow

LANES: Final = 16
"""This many columns are computed at once."""
STEP: Final = 3e-10
"""Seconds for one term of these in one row, on one thread."""
LEAST_WORK: Final = 1 << 14
"""Multiply-adds below which a product is none of these."""
LEAST_APART: Final = 1 << 16
"""Multiply-adds below which a product is better a part of another stage's kernel: a call of its own
takes two or three microseconds."""


def is_narrow(binding: Binding | None, operator: str | None, least: int = LEAST_WORK) -> bool:
    """Whether a kernel for few columns computes the stage of this operator and binding, if it has
    at least this many multiply-adds."""
    if binding is None or operator != MATMUL.name:
        return False
    batch, rows, columns, terms = (binding.extent(role) for role in "bmnk")
    work = rows * columns * terms
    return batch == 1 and 1 < min(rows, columns) <= NARROW and work >= least


def predicted(task: Task) -> float | None:
    """The predicted seconds of the kernel for the stage; None where there is none for it."""
    if _lower(task) is None or task.binding is None:
        return None
    from einderive.eops.loops.cost import LAUNCH, THREADS

    columns, rows = sorted(task.binding.extent(role) for role in "mn")
    steps = rows * task.binding.extent("k") * -(-columns // LANES)
    return LAUNCH + steps * STEP / THREADS


def _lower(task: Task) -> Run | None:
    if not (task.alone and task.compiled and task.device == "cpu" and installed()):
        return None
    if task.open_sizes or task.weights or not is_narrow(task.binding, task.operator):
        return None
    assert task.binding is not None
    return with_kernels(MATMUL.launch(task.binding))


def with_kernels(run: Run) -> Run:
    """The stage, its narrow products by kernels of their own."""

    def by_kernels(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        with narrow_by(_multiplied):
            return run(buffers)

    return by_kernels


def _multiplied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The product, by a kernel if there is one for these types."""
    if not usable():
        return torch.mm(x, y)
    from einderive.eops.cpu_kernels.products.kernel import arranged, takes

    if not takes(x, y):
        return torch.mm(x, y)
    x, y = x.resolve_neg(), y.resolve_neg()  # perhaps of other strides
    return _product(x, arranged(x, y))[0]


def _kernel_for(x: torch.Tensor, y: torch.Tensor) -> Narrow:
    from einderive.eops.cpu_kernels.products.kernel import kernel_for

    return kernel_for(x, y)


_product = opaque(lambda x, y: _kernel_for(x, y)(x, y), _kernel_for)

NARROW_PRODUCTS = BackEnd(_lower, "eOperator (narrow product)")
