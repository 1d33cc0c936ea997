"""The memory that a program needs, compared with the free memory before it is allocated.

    sum over tensors of elements * (bytes of its type + 8)  <=  free bytes

If an operating system promises more memory than it has, it ends the process when the memory is
touched.  So a formula that cannot fit is refused before the first allocation.
"""

from __future__ import annotations

import sys
from itertools import chain
from math import prod
from pathlib import Path

from einderive.frontend.text import shape
from einderive.ta.errors import BuildError
from einderive.ta.ir.dtypes import BYTES
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages
from einderive.ta.printing.show import show_program

WIDE = 8
"""Bytes of an element of the float64 reference."""
GREATEST_COUNT = 2**63 - 1
"""Elements of the largest tensor that 64-bit offsets reach."""
MOST_DIMENSIONS = 64
"""Dimensions that an array of NumPy and torch's operations can have."""


def require_memory(program: Program, device: str) -> None:
    """BuildError where the tensors of a program, once in their types and once in float64 for the
    check, exceed what is free on the device, or have more dimensions than an array can.
    Intermediate results come on top."""
    _require_dimensions(program)
    inputs = [(t.name, t.shape, BYTES[t.dtype]) for t in program.inputs]
    item = max((size for _, _, size in inputs), default=4)
    outputs = [(s.name, s.scope.shape, item) for s in program.outputs]
    needed = sum(prod(extents) * (size + WIDE) for _, extents, size in (*inputs, *outputs))
    free = free_bytes(device)
    greatest = max(
        (prod(filter(None, extents)) for _, extents, _ in (*inputs, *outputs)), default=0
    )
    if greatest <= GREATEST_COUNT and (free is None or needed <= free):
        return
    tensors = ", ".join(
        f"{name} is {shape(extents)}, {amount(prod(extents) * size)}"
        for name, extents, size in (*inputs, *outputs)
    )
    message = "the formula's tensors do not fit into memory"
    sizes = f"{tensors}; with float64 for the check at least {amount(needed)}"
    if greatest > GREATEST_COUNT:
        message = "the formula has a tensor of more elements than 64-bit offsets reach"
    elif free is not None:
        sizes += f", and {amount(free)} are free"
    raise BuildError(
        message,
        text=show_program(program),
        sizes=sizes,
        next_step="use smaller shapes; derive() alone needs no memory for the tensors",
    )


def _require_dimensions(program: Program) -> None:
    """BuildError where a tensor or a statement has more dimensions than an array can."""
    tensors = chain(
        ((f"the tensor {t.name}", t.shape) for t in program.inputs),
        ((f"the output {s.name}", s.scope.shape) for s in program.outputs),
        (("a statement of the formula", stage.shape) for stage in stages(*program.roots())),
    )
    for name, extents in tensors:
        if len(extents) > MOST_DIMENSIONS:
            raise BuildError(
                f"{name} has {len(extents)} dimensions; arrays have {MOST_DIMENSIONS} at most",
                text=show_program(program),
                next_step="join some of them; derive() alone takes more dimensions",
            )


def amount(count: int) -> str:
    """`512 B`, `8.0 GiB`; exact integers, so that no size is too large."""
    unit, tenths = 0, count * 10
    while tenths >= 10240 and unit < len(_UNITS) - 1:
        unit, tenths = unit + 1, tenths // 1024
    if tenths >= 10240:
        return f"more than 1024 {_UNITS[-1]}"
    return f"{count} B" if unit == 0 else f"{tenths // 10}.{tenths % 10} {_UNITS[unit]}"


_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB")


def free_bytes(device: str) -> int | None:
    """The bytes that can still be allocated on `cpu` or `cuda`.  None if the system does not
    say."""
    if device == "cuda":
        import torch

        return int(torch.cuda.mem_get_info()[0])
    known = [
        size for size in (_available(), _left_in_group(), _left_of_limit()) if size is not None
    ]
    return min(known, default=None)


def _available() -> int | None:
    for line in _lines(Path("/proc/meminfo")):
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) << 10
    return None


def _left_in_group() -> int | None:
    """The memory that is left to the control group (a container), under either version of the
    interface."""
    root = Path("/sys/fs/cgroup")
    for line in _lines(Path("/proc/self/cgroup")):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            folders, limit, used = (root,), "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            folders = (root / "memory",)
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        for folder in (folders[0] / path.strip("/"), folders[0]):
            sizes = [*_lines(folder / limit)[:1], *_lines(folder / used)[:1]]
            if len(sizes) == 2 and all(size.isdecimal() for size in sizes):
                return max(0, int(sizes[0]) - int(sizes[1]))
    return None


def _left_of_limit() -> int | None:
    """The memory that the limit on the process's address space leaves."""
    if sys.platform == "win32":
        return None
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _lines(Path("/proc/self/statm"))
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    return max(0, limit - int(pages[0].split()[0]) * resource.getpagesize())


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
