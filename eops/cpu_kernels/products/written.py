"""Kernels that are written for LLVM: their machine code, and their calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Protocol

import torch
from llvmlite import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.build import KEPT
from einderive.eops.cpu_kernels.calls.entry import Code, entry
from einderive.eops.cpu_kernels.calls.launch import Launch, Launched, Result, launcher
from einderive.eops.cpu_kernels.calls.linked import kept_as, prepare
from einderive.eops.cpu_kernels.compiling.late import LIBRARY
from einderive.eops.cpu_kernels.compiling.stored import Library, digest, store, stored
from einderive.eops.cpu_kernels.writing import MOST_THREADS
from einderive.ta.ir.dtypes import type_name


class Form(Protocol):
    """What the code of a kernel depends on."""

    @property
    def dtype(self) -> str: ...

    def written(self, module: Any, name: str) -> Any:
        """The module with the function of this name."""


@dataclass(frozen=True)
class Kernel:
    """`(X, Y) -> (Z,)`: the code of the form, with the `numbers` that it leaves open; several
    threads run it."""

    form: Any
    numbers: tuple[int, ...] = ()
    several: ClassVar = True
    """Several threads may run it."""
    team: ClassVar = 0
    """They exchange no totals."""

    @property
    def outs(self) -> tuple[tuple[tuple[int, ...], torch.dtype], ...]:
        """Shape and type of the result."""
        raise NotImplementedError

    @property
    def shown(self) -> str:
        """The kernel in words: it is written for LLVM, not in Python."""
        raise NotImplementedError

    @property
    def work(self) -> float:
        """The number of its operations."""
        raise NotImplementedError

    @property
    def threads(self) -> int:
        """How many threads may run it."""
        return MOST_THREADS if self.several else 1

    @cached_property
    def code(self) -> Code:
        return code_of(self.form)

    @cached_property
    def run(self) -> Callable[..., object]:
        return entry(self.code, self.work, several=self.several, most=self.threads)

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
        run = self.work, self.several, self.threads, 2
        return kept_as(self.code.file, (*run, results, self.team, self.numbers))

    @cached_property
    def _launch(self) -> Launch:
        return self.launcher(told=True)

    def __call__(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self._launch(x, y)


@lru_cache(maxsize=KEPT)
def code_of(form: Form) -> Code:
    """The machine code, from the disk where it is kept."""
    prepare()
    name = digest(str(form.written(ir.Module("written"), "written")), form.dtype)
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
