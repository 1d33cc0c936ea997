"""The call of a kernel as one flat function of tensors, with the sizes of its results written out.

def launch(v0, v1):
    r0 = empty((20, 30), (30, 1), float32)
    run(v0.data_ptr(), v1.data_ptr(), r0.data_ptr(), ...)
    return (r0,)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import torch
from torch._C._dynamo import guards
from torch.overrides import has_torch_function_unary

from einderive.eops.cpu_kernels.calls.entry import ROOM
from einderive.eops.result_memory import maker


def dense(shape: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Memory that is not written to, by a call that modes of torch see."""
    return torch.empty_strided(shape, strides, dtype=dtype, device="cpu")


EMPTY: Final[Any] = getattr(guards, "_empty_strided_cpu", dense)
"""torch's own way for compiled code, which asks no dispatcher.  It is not public."""
Launch: TypeAlias = Callable[..., tuple[torch.Tensor, ...]]


class Result(NamedTuple):
    """A dense tensor that a kernel writes."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def strides(self) -> tuple[int, ...]:
        return torch.empty(self.shape, device="meta").stride()


class Launched(NamedTuple):
    """What is called: the kernel's code, the number of its operands, its results, how many totals
    its threads exchange, and the numbers that its text leaves open."""

    run: Callable[..., object]
    operands: int
    results: tuple[Result, ...]
    team: int
    numbers: tuple[int, ...]


def launcher(kernel: Launched, otherwise: Launch | None = None, *, told: bool = False) -> Launch:
    """The function of tensors that gives the results.  With `otherwise`, that is called instead
    where a mode of torch wants to know of all calls; with `told`, such a mode is told of the memory
    that is allocated."""
    read = [f"v{k}" for k in range(kernel.operands)]
    space: dict[str, Any] = {
        "run": kernel.run,
        "empty": dense if told else EMPTY,
        "modes": torch._C._len_torch_function_stack,
        "otherwise": otherwise,
        "seen": has_torch_function_unary,
    }
    lines = [f"def launch({', '.join(read)}):"]
    if otherwise is not None and read:
        lines.append(f"    if seen(v0): return otherwise({', '.join(read)})")
    given = [f"{name}.data_ptr()" for name in read]
    for k, made in enumerate(kernel.results):
        space[f"t{k}"] = made.dtype
        call = f"empty({made.shape}, {made.strides}, t{k})"
        if (large := maker(made.shape, made.dtype)) is not None:
            space[f"large{k}"] = large
            call = f"{call} if modes() else large{k}()" if told else f"large{k}()"
        lines.append(f"    r{k} = {call}")
        given.append(f"r{k}.data_ptr()")
    if kernel.team > ROOM:
        space["real"] = torch.float64
        lines.append(f"    team = empty({(kernel.team,)}, (1,), real)")
        given.append("team.data_ptr()")
    elif kernel.team:
        given.append("None")
    given += map(str, kernel.numbers)
    made_all = "".join(f"r{k}, " for k in range(len(kernel.results)))
    lines += [f"    run({', '.join(given)})", f"    return ({made_all})"]
    exec(compile("\n".join(lines), "<einderive launch>", "exec"), space)
    launch: Launch = space["launch"]
    return launch
