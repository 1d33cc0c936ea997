"""What hostile input may cost: work and memory, counted around one call."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

from tests.work import at_most

CALLS = 20_000_000
"""Of Python functions: far above what any case takes, far below a hang; some ten seconds."""


@contextmanager
def bounded(calls: int = CALLS, mebibytes: float | None = None) -> Iterator[None]:
    """What is inside ends within so many calls, and within the memory where one is stated."""
    if mebibytes is None:
        with at_most(calls):
            yield
        return
    tracemalloc.start()
    try:
        with at_most(calls):
            yield
        peak = tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
    assert peak < mebibytes, f"took {peak:.0f} MiB"
