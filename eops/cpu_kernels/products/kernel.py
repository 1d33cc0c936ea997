"""Products with few columns, with the totals of several rows in vector registers.

    Z[i,j] = sum[k](X[i,k]*Y[k,j])        vectors across the columns j, or along the terms k

Libraries of matrix products are made for wide results: for 512 x 512 times 512 x 4, torch takes
160 us on two threads of an AMD EPYC (`frontend.bench.narrow_products`).  Sizes and steps are
numbers behind the addresses, so one kernel serves all products with as many columns, of one type.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import torch

from einderive.eops.cpu_kernels.build import KEPT
from einderive.eops.cpu_kernels.products.across import Across
from einderive.eops.cpu_kernels.products.along import MOST, Along
from einderive.eops.cpu_kernels.products.written import Kernel
from einderive.ta.ir.dtypes import type_name

MOST_COLUMNS: Final = {"float32": 32, "float64": 16}
"""As many as two vectors hold."""


Numbers: TypeAlias = tuple[int, int, int, int, int, int]
LEAST_ALONG: Final = 64
"""Shorter sums are not worth the sums of lanes at their end."""


class Form(NamedTuple):
    """What the code of a kernel depends on."""

    columns: int
    dtype: str
    along: bool = False

    def written(self, module: Any, name: str) -> Any:
        """The module with the function of this name."""
        (Along if self.along else Across)(module, name, self.columns, self.dtype).write()
        return module


class Narrow(Kernel):
    """`(X, Y) -> (Z,)` for matrices of these sizes.  `numbers` are the rows, the terms, and the
    steps of X's rows, of X's columns, of Y's rows and of Y's columns."""

    @property
    def outs(self) -> tuple[tuple[tuple[int, ...], torch.dtype], ...]:
        return (((self.numbers[0], self.form.columns), getattr(torch, self.form.dtype)),)

    @property
    def shown(self) -> str:
        return f"{__doc__}\n{self.form.columns} columns of {self.form.dtype}\n"

    @property
    def work(self) -> float:
        rows, terms = self.numbers[:2]
        columns: int = self.form.columns
        return 2.0 * rows * terms * columns


def runs_along(x: torch.Tensor, columns: int) -> bool:
    """Whether the kernel for this X and this many columns has vectors along the terms, for which
    the terms of each column of Y have to lie side by side."""
    return columns <= MOST and x.shape[1] >= LEAST_ALONG and x.stride(1) == 1


def arranged(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Y as the kernel reads it."""
    if runs_along(x, y.shape[1]):
        return y if y.stride(0) == 1 else y.t().contiguous().t()
    return y if y.stride(1) == 1 else y.contiguous()


def takes(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether a kernel multiplies these matrices."""
    most = MOST_COLUMNS.get(type_name(x), 0)
    return x.dtype == y.dtype and 1 < y.shape[1] <= most


def kernel_for(x: torch.Tensor, y: torch.Tensor) -> Narrow:
    """The kernel for matrices that it `takes`, Y as it is `arranged`."""
    form = Form(y.shape[1], type_name(x), runs_along(x, y.shape[1]))
    return _kept(form, (*x.shape, *x.stride(), *y.stride()))


@lru_cache(maxsize=KEPT)
def _kept(form: Form, numbers: Numbers) -> Narrow:
    return Narrow(form, numbers)
