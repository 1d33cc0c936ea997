"""Kernels compiled by numba, one for a stage and the types and strides of its operands."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import torch
from llvmlite import binding
from numba import cfunc, types

from einderive.eops.cpu_kernels import machine
from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.nest import TILE, Nest, nest
from einderive.eops.cpu_kernels.simple_elements import simple
from einderive.eops.cpu_kernels.table import functions
from einderive.eops.cpu_kernels.threads import openmp, runner
from einderive.ta.ir.node import Apply, Node, Power, Scope
from einderive.ta.ir.subst import walk

KEPT: Final = 512
"""Kernels that are kept for other programs with the same stage."""
MOST_FACTORS: Final = 16
"""Of a power, which is written as a product."""
CALL: Final = 8
"""How many operations a function of `elements` counts for."""


def _operations(node: Node) -> int:
    return CALL if isinstance(node, Apply) and node.function not in simple("float64") else 1


@dataclass(frozen=True)
class Kernel:
    """A compiled stage: `source` is what was compiled, `run(data)` computes it from the addresses
    of operands and result."""

    plan: Nest
    source: str
    run: Callable[[Any], object]
    dtype: torch.dtype
    compiled: Any
    """What keeps the machine code alive."""

    def __call__(self, *tensors: torch.Tensor) -> torch.Tensor:
        out = torch.empty(self.plan.scope.shape, dtype=self.dtype)
        count = len(tensors) + 1
        self.run((ctypes.c_int64 * count)(*[t.data_ptr() for t in tensors], out.data_ptr()))
        return out


def takes(stage: Scope) -> bool:
    """Whether a kernel can be written for the stage."""
    return not stage.empty and all(map(_takes, walk(stage.body)))


def _takes(node: Node) -> bool:
    if isinstance(node, Apply):
        return node.function in functions("float64")
    return not isinstance(node, Power) or abs(node.exponent) <= MOST_FACTORS


@lru_cache(maxsize=KEPT)
def build(
    scope: Scope, dtypes: tuple[str, ...], strides: tuple[tuple[int, ...], ...], compute: str
) -> Kernel:
    """The kernel of a stage for operands of these types and strides, in the order of
    `sources(scope.body)`."""
    plan = nest(scope, strides)
    total = compute if scope.reducer in ("max", "min") else "float64"
    source = Emitter(plan, compute, total).source()
    space = _names(compute, total, dtypes)
    exec(compile(source, "<einderive kernel>", "exec"), space)
    made = cfunc(types.void(machine.DATA), error_model="numpy")(space["kernel"])
    work = plan.points * sum(_operations(node) for node in walk(scope.body))
    run = runner(made.address, work if plan.pieces > 1 else 0)
    return Kernel(plan, source, run, getattr(torch, compute), made)


def _names(compute: str, total: str, dtypes: Sequence[str]) -> dict[str, Any]:
    """What the source's names mean."""
    real, own = getattr(np, compute), getattr(np, total)
    order = machine.order_keys(compute)
    return {
        **functions(compute),
        **{f"address{k}": machine.pointer(dtype) for k, dtype in enumerate(dtypes)},
        **order,
        "result": machine.pointer(compute),
        "scratch": machine.scratch(total, TILE),
        "real": real,
        "total": own,
        "inf": math.inf,
        "load": machine.load,
        "store": machine.store,
        "sum_in_any_order": machine.sum_in_any_order,
        "product_in_any_order": machine.product_in_any_order,
        **_thread_numbers(),
    }


@lru_cache(maxsize=1)
def _thread_numbers() -> dict[str, Any]:
    """`this_thread()` and `all_threads()`, of the team that runs the kernel."""
    library = openmp()
    if library is None:
        from numba import njit

        return {"this_thread": njit(lambda: 0), "all_threads": njit(lambda: 1)}
    found = {}
    for word, name in (
        ("this_thread", "omp_get_thread_num"),
        ("all_threads", "omp_get_num_threads"),
    ):
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        binding.add_symbol(name, address)
        found[word] = types.ExternalFunction(name, types.int32())
    return found
