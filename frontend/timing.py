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
    most: int = 15,
    cuda: bool = False,
) -> list[float]:
    """The median seconds of each rival over interleaved rounds, so that a change of the machine's
    pace meets all of them; at least 3 rounds, `most` at the most, about `seconds` in all."""
    samples: list[list[float]] = [[] for _ in runs]
    started = time.perf_counter()
    for number in range(most):
        if number >= 3 and time.perf_counter() - started > seconds:
            break
        for position, run in enumerate(runs):
            samples[position].append(timed(run, cuda))
    return [median(found) for found in samples]
