"""What the worker does for the workbench: one derivation, with its progress told in small pieces.

    {kind, asked, options, record}   ->   {event: search, ...}  ...  {event: done, html, ...}

Every task ends with `done` or `failed`.  A task that is interrupted keeps what it has found so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from einderive.derivations.search.graph import INTERRUPTED
from einderive.derivations.search.progress import Progress
from einderive.derivations.search.strategy import Budget
from einderive.frontend.api.optimize import derive
from einderive.frontend.explorer.view import view_of
from einderive.frontend.workbench import pages
from einderive.frontend.workbench.formula import Asked, Mistake, read
from einderive.ta.errors import EinderiveError

Tell = Callable[[Mapping[str, Any]], object]


def perform(task: Mapping[str, Any], tell: Tell) -> None:
    """Does the task.  Whatever goes wrong is told."""
    try:
        TASKS[task["kind"]](task, tell)
    except EinderiveError as problem:
        tell({"event": "failed", "text": str(problem)})
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
    options = task["options"]
    derivation = derive(
        found.program,
        budget=Budget(states=options["states"], seconds=options["seconds"]),
        target=options["target"],
        accuracy=options["accuracy"],
        nan=options["nan"],
        weights=options["weights"],
        progress=lambda so_far: tell(_searching(so_far)),
    )
    tell({"event": "said", "text": "checking the steps and saving the record"})
    derivation.save(task["record"], search=True)
    view = view_of(derivation, checked=1)
    tell(
        {
            "event": "done",
            "stopped": derivation.stats.stopped == INTERRUPTED,
            "html": pages.derived(view),
        }
    )


def _searching(so_far: Progress) -> dict[str, Any]:
    return {
        "event": "search",
        "seconds": so_far.seconds,
        "states": so_far.states,
        "expanded": so_far.expanded,
        "waiting": so_far.waiting,
        "best": so_far.best if isfinite(so_far.best) else None,
        "share": so_far.share,
    }


TASKS: Mapping[str, Callable[[Mapping[str, Any], Tell], None]] = {"derive": _derive}
