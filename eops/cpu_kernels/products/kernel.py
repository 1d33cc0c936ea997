"""Products with few columns, with the totals of several rows in vector registers.

    Z[i,j] = sum[k](X[i,k]*Y[k,j])        vectors across the columns j, or along the terms k

Libraries of matrix products are made for wide results: for 512 x 512 times 512 x 4, torch takes
160 us on two threads of an AMD EPYC (`frontend.bench.narrow_products`).  Sizes and steps are
numbers behind the addresses, so one kernel serves all products with as many columns, of one type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import torch
from llvmlite import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.build import KEPT
from einderive.eops.cpu_kernels.calls.entry import Code, entry
from einderive.eops.cpu_kernels.calls.launch import Launch, Launched, Result, launcher
from einderive.eops.cpu_kernels.calls.linked import kept_as, prepare
from einderive.eops.cpu_kernels.late import LIBRARY
from einderive.eops.cpu_kernels.products.across import Across
from einderive.eops.cpu_kernels.products.along import MOST, Along
from einderive.eops.cpu_kernels.stored import Library, digest, store, stored
from einderive.eops.cpu_kernels.writing import MOST_THREADS
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


@dataclass(frozen=True)
class Narrow:
    """`(X, Y) -> (Z,)` for matrices of these sizes.  `numbers` are the rows, the terms, and the
    steps of X's rows, of X's columns, of Y's rows and of Y's columns."""

    form: Form
    numbers: Numbers
    several: ClassVar = True
    """Several threads may run it."""
    team: ClassVar = 0
    """They exchange no totals."""

    @property
    def outs(self) -> tuple[tuple[tuple[int, ...], torch.dtype], ...]:
        """Shape and type of the result."""
        return (((self.numbers[0], self.form.columns), getattr(torch, self.form.dtype)),)

    @property
    def source(self) -> str:
        """The kernel in words: it is written for LLVM, not in Python."""
        return f"{__doc__}\n{self.form.columns} columns of {self.form.dtype}\n"

    @property
    def work(self) -> float:
        """The number of its operations."""
        rows, terms = self.numbers[:2]
        return 2.0 * rows * terms * self.form.columns

    @cached_property
    def code(self) -> Code:
        return _code(self.form)

    @cached_property
    def run(self) -> Callable[..., object]:
        return entry(self.code, self.work, several=self.several, most=MOST_THREADS)

    def launcher(self, otherwise: Launch | None = None, *, told: bool = False) -> Launch:
        """The kernel as a flat function of its operands; options as those of `launch.launcher`."""
        results = tuple(Result(*out) for out in self.outs)
        launched = Launched(self.run, 2, results, self.team, self.numbers)
        return launcher(launched, otherwise, told=told)

    def portable(self) -> Code:
        """The code, of which LLVM makes that of any processor."""
        return self.code

    def kept(self) -> tuple[object, ...] | None:
        """What `calls.linked.loops` makes this kernel of in other processes.  None where it is not
        on disk."""
        results = tuple((shape, type_name(dtype)) for shape, dtype in self.outs)
        run = self.work, self.several, MOST_THREADS, 2
        return kept_as(self.code.file, (*run, results, self.team, self.numbers))

    @cached_property
    def _launch(self) -> Launch:
        return self.launcher(told=True)

    def __call__(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._launch(x, y)


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


@lru_cache(maxsize=KEPT)
def _code(form: Form) -> Code:
    """The machine code, from the disk where it is kept."""
    prepare()
    name = digest(str(form.written(ir.Module("narrow"), "narrow")), form.dtype)
    code = stored(name)
    if code is None:
        symbol = f"kernel_{name}"
        with global_compiler_lock:
            library = LIBRARY(cpu_target.target_context.codegen(), symbol)
            module = library.create_ir_module(symbol)
            form.written(module, symbol)
            library.enable_object_caching()
            library.add_ir_module(module)
            library.finalize()
        code = store(name, Library(library, symbol))
    return code
