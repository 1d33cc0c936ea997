"""Running a kernel on torch's own threads.

torch brings an OpenMP library along.  `GOMP_parallel(f, data, n, 0)` runs `f(data)` on n threads of
its pool, about two microseconds later; calls from several threads at once have a team each.  In a
process that was forked after such a call the pool does not exist, so kernels run serially there,
and likewise where no such library is found.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import torch

LIBRARIES: Final = ("libgomp*.so*", "libomp*.dylib")
WORK: Final = 1 << 19
"""Kernels with fewer operations run on one thread.  Some ten operations take a nanosecond."""


class _Process:
    """Whether this process was forked from one whose threads may have run."""

    forked = False


def _mark() -> None:
    _Process.forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark)


@cache
def openmp() -> ctypes.CDLL | None:
    """The OpenMP library that torch has loaded; None if there is none."""
    home = Path(torch.__file__).parent
    for folder in (home / "lib", home.parent / "torch.libs"):
        for pattern in LIBRARIES:
            for path in sorted(folder.glob(pattern)):
                try:
                    library = ctypes.CDLL(str(path))
                    _ = library.GOMP_parallel, library.GOMP_barrier  # raises where one is missing
                except (OSError, AttributeError):
                    continue
                return library
    return None


@cache
def parallel() -> Any:
    """`start(f, data, n, 0)`, which runs `f(data)` on n threads; None where there is none."""
    library = openmp()
    if library is None:
        return None
    start = library.GOMP_parallel
    start.restype = None
    start.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    return start


def count(most: int) -> int:
    """How many threads may work now: as many as torch has, at most `most`."""
    return 1 if _Process.forked else min(most, torch.get_num_threads())


def runner(address: int, work: int, most: int) -> Callable[[Any], object]:
    """`run(data)` for the kernel at the address.  It uses as many threads as torch, and at most
    `most`, if the work is enough and the process has such threads.  Exported modules call it, which
    have this file beside them."""
    alone = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
    start = parallel()
    if start is None or work < WORK:
        return alone

    def run(data: Any) -> None:
        team = count(most)
        if team == 1:
            alone(data)
        else:
            start(address, data, team, 0)

    return run
