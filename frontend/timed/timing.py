"""Timing of rivals in one run: interleaved rounds, medians, on random data."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median, quantiles

import torch

from einderive.eops import result_memory

SAMPLE = 1e-4
"""A call that is shorter than this is timed in batches that take about this many seconds: the clock
and the pace of the machine are too coarse for one."""
LONG_SAMPLE, LONG_ROUNDS = 1e-3, 12
"""Sample and rounds for a race of few: longer batches, as the first calls after another program's
are slower."""
REPEATED = 5e-3
"""A run that is shorter than this many seconds follows one of the same program that is not timed: a
program that is called again and again finds its own data and instructions in the caches."""
LONG_RUN, ROUNDS, LONG_RUN_ROUNDS = 0.03, 3, 2
"""Every rival runs in this many rounds at least; in fewer where the fastest takes longer."""
AWAKE = 0.02
DUEL_SECONDS = 0.2
MOST_CALLS = 100
MOST = 30
"""Rounds, at most."""
MADE, MADE_SECONDS = 6, 0.5
"""So many calls at most, no longer than so many seconds, follow those that made memory."""
WARM, BRIEF = 0.03, 1e-2
"""A first call that is no longer than `WARM` may have been something that is done once.  Two calls
that are no longer than `BRIEF` may both have waited for a processor, for 4 to 8 ms each."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The median of a rival's samples, and half the distance between their quartiles; `samples`
    are seconds a call, by round."""

    seconds: float
    spread: float
    samples: tuple[float, ...] = ()

    def beats(self, other: Timing, margin: float) -> bool:
        """Whether this one takes at most that part of the other's time, and is the faster one in
        three quarters of the rounds that both were in: in no more than half of them by chance."""
        both = list(zip(self.samples, other.samples, strict=False))
        won = sum(own < theirs for own, theirs in both)
        return self.seconds <= margin * other.seconds and 4 * won >= 3 * len(both)

    def later(self, seconds: float) -> Timing:
        """The timing with this many seconds added to each sample."""
        samples = tuple(sample + seconds for sample in self.samples)
        return Timing(self.seconds + seconds, self.spread, samples)


UNTIMED = Timing(inf, 0.0)


def timed(run: Callable[[], object], cuda: bool, calls: int = 1) -> float:
    """Wall-clock seconds of one call, work on the device included; of several, their mean."""
    if cuda:
        torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(calls):
        run()
    if cuda:
        torch.cuda.synchronize()
    return (time.perf_counter() - started) / calls


def first(run: Callable[[], object], cuda: bool) -> float:
    """Seconds of a rival that has not run yet: of its second call, where that is short, and on a
    GPU always, as the first one may compile kernels and choose among configurations; where even
    that is short, the least of a few, since anything may come between.  A call that had to make
    memory for its results is followed by another one, which finds it."""
    if cuda:
        run()
    before, found = result_memory.made(), timed(run, cuda)
    for _ in range(MADE):
        made = result_memory.made()
        if made == before or found > MADE_SECONDS:
            break
        before, found = made, min(found, timed(run, cuda))
    if found <= WARM:
        found = min(found, timed(run, cuda))
    return min(found, *(timed(run, cuda) for _ in range(3))) if found <= BRIEF else found


def race(
    runs: Sequence[Callable[[], object]],
    *,
    known: Sequence[float] = (),
    seconds: float = 1.0,
    most: int = MOST,
    sample: float = SAMPLE,
    apart: float = 0.0,
    cuda: bool = False,
    watch: Callable[[Sequence[Sequence[float]]], object] | None = None,
) -> list[Timing]:
    """The time of each rival over interleaved rounds, so that a change of the machine's pace meets
    all of them; every other round goes backwards, so that none always follows the same one.  Before
    a batch of short calls, or a brief run, there is one that is not timed (`REPEATED`).

    Every rival runs in at least `ROUNDS` rounds and at most in `most`; a slow one leaves the race
    when it has had its share of about `seconds` in all.  `known` are the seconds of a call as far
    as these are known: what is longer than `sample` needs no call to find out how many make a
    batch.  `watch` is given all samples after each round.

    With `apart`, each turn begins with a pause of this many seconds, in which the threads of
    another library fall asleep, and `AWAKE` seconds of calls that are not timed, in which its own
    wake up and find a processor each."""
    lengths = list(known) or [0.0] * len(runs)
    lengths = [
        found if found > sample else timed(run, cuda)
        for run, found in zip(runs, lengths, strict=True)
    ]
    calls = [batch(found, sample) if found <= sample else 1 for found in lengths]
    samples: list[list[float]] = [[] for _ in runs]
    spent = [0.0] * len(runs)
    share = seconds / max(1, len(runs))
    least = ROUNDS if min(lengths, default=0.0) <= LONG_RUN else LONG_RUN_ROUNDS
    order = list(range(len(runs)))
    for number in range(most):
        for position in order if number % 2 == 0 else reversed(order):
            if number < least or spent[position] < share:
                if apart:
                    time.sleep(apart)
                    _awake(runs[position])
                once = lengths[position] <= REPEATED
                if once:
                    runs[position]()
                found = timed(runs[position], cuda, calls[position])
                samples[position].append(found)
                spent[position] += found * (calls[position] + bool(once))
        if watch is not None:
            watch(samples)
    return [summary(found) for found in samples]


def _awake(run: Callable[[], object]) -> None:
    """Runs it for `AWAKE` seconds, at least once."""
    ends = time.perf_counter() + AWAKE
    run()
    while time.perf_counter() < ends:
        run()


def duel(
    one: Callable[[], object], other: Callable[[], object], *, cuda: bool = False
) -> tuple[Timing, Timing]:
    """The times of two programs in a race of their own."""
    found = race(
        [one, other], seconds=DUEL_SECONDS, most=LONG_ROUNDS, sample=LONG_SAMPLE, cuda=cuda
    )
    return found[0], found[1]


def batch(seconds: float, sample: float = SAMPLE) -> int:
    """The number of calls in one sample."""
    return max(1, min(MOST_CALLS, round(sample / max(seconds, 1e-9))))


def summary(samples: Sequence[float]) -> Timing:
    """Median and spread of the samples."""
    if len(samples) < 2:
        return Timing(samples[0] if samples else inf, 0.0, tuple(samples))
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return Timing(median(samples), (high - low) / 2, tuple(samples))
