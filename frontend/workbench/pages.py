"""The workbench's page and the pieces of it that are sent while a person works, as HTML.

All texts are escaped by the templates; the pieces of the explorer's page are used as they are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from einderive.frontend.explorer.page import FOLDER, environment
from einderive.frontend.workbench.formula import MOST_FORMULA, MOST_SIZES, Mistake, Reading
from einderive.ta.ir.dtypes import DTYPES

OWN = Path(__file__).parent
FILES = {
    "page.css": (FOLDER, "text/css"),
    "workbench.css": (OWN, "text/css"),
    "workbench.js": (OWN, "text/javascript"),
}
"""The files beside the page, by name: their folder and what they are."""
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
    )


def reading(found: Reading | Mistake) -> str:
    """What was read, or the error."""
    return _rendered("reading.html", found=found, wrong=isinstance(found, Mistake))


@cache
def file(name: str) -> str:
    return (FILES[name][0] / name).read_text(encoding="utf-8")


def _rendered(template: str, **values: Any) -> str:
    return environment(OWN).get_template(template).render(prefix="", **values)
