"""What the worker does for the workbench, with its progress told in small pieces.

    {kind: derive, asked, options, record}  ->  {event: search, ...} ... {event: done, html, ...}
    {kind: compile, record, seconds, page}  ->  {event: race, ...}   ... {event: done, html, ...}

Every task ends with `done` or `failed`.  A task that is interrupted keeps what it has found so far.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf, isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

from einderive.derivations.search.graph import INTERRUPTED
from einderive.derivations.search.progress import Progress
from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.optimize import derive
from einderive.frontend.api.record import load
from einderive.frontend.explorer.trials import measured_view
from einderive.frontend.explorer.view import view_of
from einderive.frontend.text import operators
from einderive.frontend.timed.trial import Trial
from einderive.frontend.workbench import pages
from einderive.frontend.workbench.formula import Asked, Mistake, read
from einderive.frontend.workbench.jobs.job import Moment
from einderive.frontend.workbench.jobs.tree import Grown
from einderive.frontend.workbench.records import write_page
from einderive.ta.errors import EinderiveError

TELL_SECONDS = 0.2
"""A race is told at most so often: what is told takes a little of the machine."""

Tell = Callable[[Mapping[str, Any]], object]


def perform(task: Mapping[str, Any], tell: Tell) -> None:
    """Does the task.  Whatever goes wrong is told."""
    try:
        TASKS[task["kind"]](task, tell)
    except EinderiveError as problem:
        tell({"event": "failed", "text": str(problem)})
    except KeyboardInterrupt:
        tell({"event": "failed", "text": "stopped before any program had run"})
    except (MemoryError, RecursionError):
        tell({"event": "failed", "text": "the formula or its tensors are too large here"})
    except Exception as problem:  # a defect here: the next task shall not suffer from it
        tell({"event": "failed", "text": f"einderive failed: {type(problem).__name__}: {problem}"})


def _derive(task: Mapping[str, Any], tell: Tell) -> None:
    """Derives, and saves the record with its search."""
    found = read(Asked(**task["asked"]))
    if isinstance(found, Mistake):
        tell({"event": "failed", "text": found.text})
        return
    options, grown = task["options"], Grown(found.program.roots())
    derivation = derive(
        found.program,
        budget=Budget(states=options["states"], seconds=options["seconds"]),
        target=options["target"],
        accuracy=options["accuracy"],
        nan=options["nan"],
        weights=options["weights"],
        progress=lambda so_far: tell(_searching(so_far, grown)),
    )
    tell({"event": "said", "text": "checking the steps and saving the record"})
    derivation.save(task["record"], search=True)
    html = pages.derived(view_of(derivation, checked=1))
    chosen = next((each for each in derivation.candidates if each.steps), derivation.candidates[0])
    more = {"text": "writing the page", "chosen": grown.on_the_way(chosen)}
    tell({"event": "found", "html": html} | more)
    write_page(Path(task["record"]), Path(task["page"]), load(task["record"]))
    stopped = derivation.stats.stopped == INTERRUPTED
    tell({"event": "done", "stopped": stopped, "html": html})


def _searching(so_far: Progress, grown: Grown) -> dict[str, Any]:
    return {
        "event": "search",
        **{name: getattr(so_far, name) for name in Moment.__slots__},
        "best": so_far.best if isfinite(so_far.best) else None,
        "grown": [] if so_far.graph is None else grown.more(so_far.graph),
    }


def _compile(task: Mapping[str, Any], tell: Tell) -> None:
    """Races the programs of a record, and writes the page with the measurements."""
    tell({"event": "said", "text": "reading the record"})
    derivation = load(task["record"])
    told = -inf

    def watch(trials: tuple[Trial, ...]) -> None:
        nonlocal told
        if perf_counter() - told >= TELL_SECONDS:
            tell({"event": "race", "rivals": [_rival(trial) for trial in trials]})
            told = perf_counter()

    with _interruptible():
        compiled = derivation.compile(
            effort=task["seconds"],
            progress=lambda words: tell({"event": "trying", "text": words}),
            watch=watch,
        )
    html = pages.raced(measured_view(compiled))
    tell({"event": "found", "html": html, "text": "writing the page with the measurements"})
    compiled.save(task["record"], search=True)
    write_page(Path(task["record"]), Path(task["page"]), load(task["record"]))
    tell({"event": "done", "stopped": compiled.interrupted, "html": html})


def _rival(trial: Trial) -> dict[str, Any]:
    return {
        "label": trial.label,
        "words": operators(trial.words),
        "seconds": trial.seconds if isfinite(trial.seconds) else None,
        "verdict": trial.verdict,
    }


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt within."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


TASKS: Mapping[str, Callable[[Mapping[str, Any], Tell], None]] = {
    "derive": _derive,
    "compile": _compile,
}
