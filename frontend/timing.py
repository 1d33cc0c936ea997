"""Timing of rivals in one run: interleaved rounds, medians, on random data."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

import torch


def timed(run: Callable[[], object], cuda: bool) -> float:
    """Wall-clock seconds of one call, work on the device included."""
    if cuda:
        torch.cuda.synchronize()
    started = time.perf_counter()
    run()
    if cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - started


def race(
    runs: Sequence[Callable[[], object]],
    *,
    seconds: float = 1.0,
    most: int = 30,
    cuda: bool = False,
) -> list[float]:
    """The median seconds of each rival over interleaved rounds, so that a change of the machine's
    pace meets all of them.

    Every rival runs at least 3 times and at most `most` times; a slow one leaves the race when it
    has had its share of about `seconds` in all."""
    samples: list[list[float]] = [[] for _ in runs]
    share = seconds / max(1, len(runs))
    for number in range(most):
        for position, run in enumerate(runs):
            if number < 3 or sum(samples[position]) < share:
                samples[position].append(timed(run, cuda))
    return [median(found) for found in samples]
