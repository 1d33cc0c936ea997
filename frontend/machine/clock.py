"""The time of one call, alone and warm.

    least = the smallest mean over batches of calls

Whatever else runs on the machine only adds time, so the least is what a call takes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter

import torch

SAMPLE = 5e-5
"""Seconds of a batch at least: the clock itself takes a tenth of a microsecond."""
MOST_CALLS = 64
ROUNDS = 9

Clock = Callable[[], float]


def least(
    run: Callable[[], object], seconds: float, *, cuda: bool = False, clock: Clock = perf_counter
) -> float:
    """Seconds of one call.  After a first one, which is not counted, there are as many batches as
    fit into about so many seconds, one at least and `ROUNDS` at most."""
    run()
    _wait(cuda)
    started = clock()
    found, calls = inf, 1
    for _ in range(ROUNDS + 1):
        before = clock()
        for _ in range(calls):
            run()
        _wait(cuda)
        now = clock()
        found = min(found, (now - before) / calls)
        calls = max(1, min(MOST_CALLS, round(SAMPLE / max(found, 1e-9))))
        if now - started > seconds:
            break
    return found


def _wait(cuda: bool) -> None:
    if cuda:
        torch.cuda.synchronize()
