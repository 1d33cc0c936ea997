"""Products with few columns, with the totals of several rows in vector registers.

    for rows i, some at once:   for parts of k:   for k:   t[i,:] += X[i,k] * Y[k,:]
                                                  T[i,:] += t[i,:]
                                Z[i,:] = T[i,:]

Libraries of matrix products are made for wide results: for 512 x 512 times 512 x 4, torch takes
160 us on two threads of an AMD EPYC.  Sizes and steps are numbers behind the addresses, so one
kernel serves all products with as many columns, of one type.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Final, NamedTuple

import torch
from llvmlite import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.build import KEPT
from einderive.eops.cpu_kernels.calls.entry import Code, entry
from einderive.eops.cpu_kernels.calls.launch import Launch, Launched, Result, launcher
from einderive.eops.cpu_kernels.calls.linked import kept_as, prepare
from einderive.eops.cpu_kernels.late import LIBRARY
from einderive.eops.cpu_kernels.products.code import written
from einderive.eops.cpu_kernels.stored import Library, digest, store, stored
from einderive.eops.cpu_kernels.writing import MOST_THREADS
from einderive.ta.ir.dtypes import type_name

MOST_COLUMNS: Final = {"float32": 32, "float64": 16}
"""As many as two vectors hold."""


class Form(NamedTuple):
    """What the code of a kernel depends on."""

    columns: int
    dtype: str


@dataclass(frozen=True)
class Narrow:
    """`(X, Y) -> (Z,)` for matrices of these sizes; the columns of Y lie side by side.  `numbers`
    are the rows, the terms, and the steps of X's rows, of X's columns and of Y's rows."""

    form: Form
    numbers: tuple[int, int, int, int, int]
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


def takes(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether a kernel multiplies these matrices."""
    most = MOST_COLUMNS.get(type_name(x), 0)
    return x.dtype == y.dtype and 1 < y.shape[1] <= most and y.stride(1) == 1


def kernel_for(x: torch.Tensor, y: torch.Tensor) -> Narrow:
    """The kernel for matrices that it `takes`."""
    (rows, terms), (x_row, x_term) = x.shape, x.stride()
    return _kept(Form(y.shape[1], type_name(x)), (rows, terms, x_row, x_term, y.stride(0)))


@lru_cache(maxsize=KEPT)
def _kept(form: Form, numbers: tuple[int, int, int, int, int]) -> Narrow:
    return Narrow(form, numbers)


@lru_cache(maxsize=KEPT)
def _code(form: Form) -> Code:
    """The machine code, from the disk where it is kept."""
    prepare()
    name = digest(str(written(ir.Module("narrow"), "narrow", *form)), form.dtype)
    code = stored(name)
    if code is None:
        symbol = f"kernel_{name}"
        with global_compiler_lock:
            library = LIBRARY(cpu_target.target_context.codegen(), symbol)
            module = library.create_ir_module(symbol)
            written(module, symbol, *form)
            library.enable_object_caching()
            library.add_ir_module(module)
            library.finalize()
        code = store(name, Library(library, symbol))
    return code
