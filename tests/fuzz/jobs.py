"""Campaigns side by side, one process each, with progress and a summary.

Job k of J takes the programs k, k + J, ...  Each process tells its counts after a program, twice a
second at most; so whatever ends it, what it had done is known.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count as numbers_from
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path

from tests.fuzz.campaign import Campaign, until
from tests.fuzz.counts import Counts

TELL_SECONDS = 0.5
LINE_SECONDS = 30.0
"""Between lines of progress where they do not go to a terminal."""
GRACE_SECONDS = 600.0
"""Given to the processes to end, with the case at hand written, once they are asked to."""


@dataclass(frozen=True)
class Plan:
    """What to run: `count` applications or `seconds`, whichever comes first, over all jobs."""

    seed: int
    jobs: int
    count: int | None
    seconds: float | None
    cases: Path
    first: int = 0
    """The number of the first program."""


@dataclass(frozen=True)
class _Told:
    """The state of one process."""

    counts: Counts = field(default_factory=Counts)
    written: tuple[Path, ...] = ()
    processor_seconds: float = 0.0
    done: bool = False
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """All counts together; `trouble` tells of processes that did not end by themselves."""

    counts: Counts
    written: tuple[Path, ...]
    seconds: float
    processor_seconds: float
    interrupted: bool
    trouble: tuple[str, ...]


def _work(plan: Plan, job: int, tell: Connection, stop: Event) -> None:
    """One process.  It ignores Ctrl-C: the parent asks for the end with `stop`."""
    campaign = Campaign(plan.seed, plan.cases)
    share = None if plan.count is None else -(-plan.count // plan.jobs)
    below = until(share, plan.seconds)
    last = time.monotonic()

    def go_on(counts: Counts) -> bool:
        nonlocal last
        if time.monotonic() - last > TELL_SECONDS:
            tell.send(_Told(counts, tuple(campaign.written), time.process_time()))
            last = time.monotonic()
        return below(counts) and not stop.is_set()

    error = ""
    try:
        campaign.run(numbers_from(plan.first + job, plan.jobs), go_on)
    except Exception as raised:  # not of a rule: those are failures; of the campaign itself
        error = f"{type(raised).__name__}: {raised}"
    written, spent = tuple(campaign.written), time.process_time()
    tell.send(_Told(campaign.counts, written, spent, done=True, error=error))


def run(plan: Plan, show: Callable[[str], None]) -> Outcome:
    """Runs the plan; `show` gets a line of progress now and then.  Ctrl-C ends it early."""
    methods = multiprocessing.get_all_start_methods()  # a fork has loaded all that it needs
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    stop = context.Event()
    start = time.monotonic()
    processes: list[BaseProcess] = []
    told: dict[Connection, _Told] = {}
    interrupted = False
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited by the processes
    try:
        for job in range(plan.jobs):
            ours, theirs = context.Pipe(duplex=False)
            arguments = (plan, job, theirs, stop)
            processes.append(context.Process(target=_work, args=arguments, daemon=True))
            processes[-1].start()
            theirs.close()
            told[ours] = _Told()
        signal.signal(signal.SIGINT, ignored)
        _listen(told, show, start, None)
    except KeyboardInterrupt:
        interrupted = True
        stop.set()
        show("ending; once more Ctrl-C ends at once")
        with suppress(KeyboardInterrupt):
            _listen(told, show, start, GRACE_SECONDS)
    for process in processes:
        process.join(1.0)
        if process.is_alive():
            process.terminate()
    parts = list(told.values())
    trouble = [part.error for part in parts if part.error]
    trouble += ["a process ended before its time" for part in parts if not part.done]
    return Outcome(
        sum((part.counts for part in parts), Counts()),
        tuple(path for part in parts for path in part.written),
        time.monotonic() - start,
        sum(part.processor_seconds for part in parts),
        interrupted,
        tuple(trouble),
    )


def _listen(
    told: dict[Connection, _Told],
    show: Callable[[str], None],
    start: float,
    grace: float | None,
) -> None:
    """Keeps what the processes tell until all are done, gone, or the grace is over."""
    end = None if grace is None else time.monotonic() + grace
    while open_ones := [c for c, state in told.items() if not state.done and not c.closed]:
        if end is not None and time.monotonic() > end:
            return
        for ready in wait(open_ones, timeout=1.0):
            assert isinstance(ready, Connection)
            try:
                told[ready] = ready.recv()
            except EOFError:  # the process is gone
                ready.close()
        show(progress(sum((state.counts for state in told.values()), Counts()), start))


def progress(counts: Counts, start: float) -> str:
    seconds = time.monotonic() - start
    return (
        f"{int(seconds) // 60:3d}:{int(seconds) % 60:02d}  {counts.programs:,} programs  "
        f"{counts.total:,} applications ({counts.total / max(seconds, 1e-9):,.0f}/s)  "
        f"{counts.failures} failures"
    )


class Display:
    """Progress on stderr: one line that changes on a terminal, elsewhere a line now and then."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.last = time.monotonic()

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if self.terminal:
            print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)
        elif now - self.last > LINE_SECONDS:
            print(line, file=sys.stderr, flush=True)
            self.last = now

    def close(self) -> None:
        if self.terminal:
            print(file=sys.stderr)
