"""The time of one call, alone and warm.

    least = the smallest mean over batches of calls

Whatever else runs on the machine only adds time, so the least is what a call takes.  Where torch
computes with one thread, the clock is this thread's time on a processor: it stands still while
other processes have the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter, thread_time

import torch

SAMPLE = 5e-5
"""Seconds of a batch at least: the clock itself takes a tenth of a microsecond."""
MOST_CALLS = 64
FEWEST, MOST = 3, 40
"""Batches."""

Clock = Callable[[], float]


def usual_clock(*, cuda: bool = False) -> Clock:
    """The clock for calls that torch computes."""
    return thread_time if torch.get_num_threads() == 1 and not cuda else perf_counter


def least(
    run: Callable[[], object],
    seconds: float,
    *,
    cuda: bool = False,
    clock: Clock | None = None,
) -> float:
    """Seconds of one call.  After a first one, which is not counted, there are as many batches as
    fit into about this many seconds, `FEWEST` at least and `MOST` at most."""
    clock = clock or usual_clock(cuda=cuda)
    run()
    _wait(cuda)
    started = clock()
    found, calls = inf, 1
    for number in range(1, MOST + 1):
        before = clock()
        for _ in range(calls):
            run()
        _wait(cuda)
        now = clock()
        found = min(found, (now - before) / calls)
        calls = max(1, min(MOST_CALLS, round(SAMPLE / max(found, 1e-9))))
        if number >= FEWEST and now - started > seconds:
            break
    return found


def _wait(cuda: bool) -> None:
    if cuda:
        torch.cuda.synchronize()
