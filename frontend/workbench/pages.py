"""The workbench's page and the pieces of it that are sent while a person works, as HTML.

All texts are escaped by the templates; the pieces of the explorer's page are used as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from einderive.frontend.accuracy.levels import ACCURACIES, NANS
from einderive.frontend.explorer.models import MeasuredView, View
from einderive.frontend.explorer.page import FOLDER, environment
from einderive.frontend.workbench.entries import Entry
from einderive.frontend.workbench.formula import MOST_FORMULA, MOST_SIZES, Mistake, Reading
from einderive.frontend.workbench.jobs.curves import HEIGHT, WIDTH, curves
from einderive.frontend.workbench.jobs.job import Job
from einderive.frontend.workbench.options import LONGEST, MOST_STATES, TARGETS
from einderive.ta.ir.dtypes import DTYPES

OWN = Path(__file__).parent
FILES = {
    "page.css": (FOLDER, "text/css"),
    "workbench.css": (OWN, "text/css"),
    "link.js": (FOLDER, "text/javascript"),
    "scrolling.js": (FOLDER, "text/javascript"),
    "tree.js": (FOLDER, "text/javascript"),
    "growth.js": (OWN, "text/javascript"),
    "workbench.js": (OWN, "text/javascript"),
    "records.js": (OWN, "text/javascript"),
}
"""The files beside the page, by name: their folder and what they are."""
MOST_LISTED = 100
"""Records in the list."""
START = "Y[i,j] = (A[i,k] - B[j,k])^2", "A=1024,128 B=1024,128"
"""What stands in the fields at first."""


def workbench() -> str:
    formula, sizes = START
    return _rendered(
        "workbench.html",
        formula=formula,
        sizes=sizes,
        dtypes=DTYPES,
        most_formula=MOST_FORMULA,
        most_sizes=MOST_SIZES,
        longest=LONGEST,
        most_states=MOST_STATES,
        targets=TARGETS,
        accuracies=ACCURACIES,
        nans=NANS,
    )


def reading(found: Reading | Mistake) -> str:
    """What was read, or the error."""
    return _rendered("reading.html", found=found, wrong=isinstance(found, Mistake))


def progress(job: Job) -> str:
    """How far the job is."""
    return _rendered(
        "progress.html",
        job=job,
        curves=curves(job.moments),
        width=WIDTH,
        height=HEIGHT,
        rivals=sorted(job.rivals, key=lambda one: inf if one.seconds is None else one.seconds),
        slowest=max((one.seconds or 0.0 for one in job.rivals), default=0.0) or 1.0,
    )


def raced(measured: MeasuredView) -> str:
    """What was measured."""
    return _rendered("raced.html", measured=measured)


def derived(view: View) -> str:
    """What a derivation found: the list of programs, and the steps to each."""
    return _rendered("derived.html", view=view)


def records(entries: Sequence[Entry], folder: str) -> str:
    """The list of records."""
    return _rendered(
        "records.html",
        entries=entries[:MOST_LISTED],
        more=max(0, len(entries) - MOST_LISTED),
        folder=folder,
    )


@cache
def file(name: str) -> str:
    return (FILES[name][0] / name).read_text(encoding="utf-8")


def _rendered(template: str, **values: Any) -> str:
    return environment(OWN).get_template(template).render(prefix="", **values)
