"""What hostile input may cost: seconds and memory, measured around one call."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 20.0
"""Far above what any case takes on a slow machine, far below a hang."""


@contextmanager
def bounded(seconds: float = SECONDS, mebibytes: float | None = None) -> Iterator[None]:
    """The calls inside end within the time, and within the memory where one is stated."""
    if mebibytes is not None:
        tracemalloc.start()
    began = time.perf_counter()
    try:
        yield
        took = time.perf_counter() - began
        peak = tracemalloc.get_traced_memory()[1] / 2**20 if mebibytes is not None else 0.0
    finally:
        if mebibytes is not None:
            tracemalloc.stop()
    assert took < seconds, f"took {took:.1f} s"
    assert mebibytes is None or peak < mebibytes, f"took {peak:.0f} MiB"
