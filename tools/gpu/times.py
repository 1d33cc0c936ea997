"""Times on a GPU: of its work alone, of a call, and of the host alone.

    gpu_seconds      ten calls recorded as a CUDA graph, which is replayed
    call_seconds     one call and a synchronisation, by the wall clock
    queued_seconds   many calls that nobody waits for, by the wall clock

All are medians; what takes long is repeated less often.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from einderive.frontend.timed.timing import timed

CALLS = 10
"""Calls in one graph."""
ROUNDS = 15
SHORT = 2e-3
"""Seconds of a call beyond which it is repeated less often."""
QUEUED = 200
"""Calls that nobody waits for."""

Run = Callable[[], object]


def gpu_seconds(run: Run) -> float:
    """The GPU's time of one call, without what the host does before; NaN where the call cannot be
    recorded.  A sum that is repaired where the data ask for it is computed as written there."""
    if not torch.cuda.is_available():  # in Triton's interpreter
        return timed(run, cuda=False)
    event: Any = torch.cuda.Event
    once = min(timed(run, cuda=True) for _ in range(2))
    calls = _times(CALLS, CALLS * SHORT, once)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            for _ in range(calls):
                run()
    except RuntimeError:  # a call that waits for the GPU, for example to choose an algorithm
        torch.cuda.synchronize()
        return float("nan")
    found: list[float] = []
    for _ in range(2 + _times(ROUNDS, ROUNDS * CALLS * SHORT, calls * once)):
        start, stop = (event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        found.append(start.elapsed_time(stop) / 1000 / calls)
    return median(found[2:])


def _times(most: int, seconds: float, once: float) -> int:
    """How often to run what takes so long once: `most` times, less often beyond this many
    seconds."""
    return max(1, min(most, int(seconds / once)))


def call_seconds(run: Run) -> float:
    """The wall-clock time of one call, until the GPU is done."""
    if not torch.cuda.is_available():  # in Triton's interpreter
        return timed(run, cuda=False)
    once = min(timed(run, cuda=True) for _ in range(3))
    return median(timed(run, cuda=True) for _ in range(2 + _times(100, 100 * SHORT, once)))


def queued_seconds(run: Run) -> float:
    """The host's time of one call that nobody waits for."""

    def several() -> None:
        for _ in range(QUEUED):
            run()

    several()
    return median(timed(several, cuda=True) for _ in range(5)) / QUEUED


class ProductsInTF32:
    """While it is entered, float32 products and convolutions use TF32, or do not."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed

    def __enter__(self) -> None:
        self.before = (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32)
        torch.backends.cuda.matmul.allow_tf32 = self.allowed
        torch.backends.cudnn.allow_tf32 = self.allowed

    def __exit__(self, *_: object) -> None:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = self.before
