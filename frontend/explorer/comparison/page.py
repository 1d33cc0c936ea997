"""The page about two derivations: one file, no network, readable without a script."""

from __future__ import annotations

from pathlib import Path

from einderive.frontend.derived import Derived
from einderive.frontend.explorer.comparison.compared import NAMES, compared
from einderive.frontend.explorer.comparison.models import Comparison
from einderive.frontend.explorer.page import environment, file

OWN = Path(__file__).parent


def comparison_page(
    left: Derived,
    right: Derived,
    names: tuple[str, str] = NAMES,
    candidates: tuple[int | None, int | None] = (None, None),
) -> str:
    """A page with two derivations side by side, under these names.  Of each, the candidate of the
    number is shown, counted from 1, or else the best one that has steps."""
    return rendered(compared(left, right, names, candidates))


def rendered(found: Comparison) -> str:
    script = [file(name) for name in ("link.js", "scrolling.js", "page.js")]
    script += [file("data.js")] if found.data else []
    return (
        environment(OWN)
        .get_template("comparison.html")
        .render(
            found=found,
            prefix="",
            docs="",
            known=frozenset(),
            css=file("page.css") + (OWN / "comparison.css").read_text(encoding="utf-8"),
            script="\n".join(script),
        )
    )
