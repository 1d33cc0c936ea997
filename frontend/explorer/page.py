"""The explorer's page, from its view model: one file, no network, readable without a script.

Everything that comes from a formula or a record is escaped.  MathML is made by `mathml`, which
escapes what it holds.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from einderive.eops.library import OPERATORS
from einderive.frontend.explorer.models import CandidateView, Place, Share, StageView, View
from einderive.frontend.explorer.pieces.figures import amount
from einderive.frontend.text import capitalised, counted, duration, figure, shape
from einderive.frontend.timed.trial import program_of

FOLDER = Path(__file__).parent
MOST_STAGES = 12
"""This many statements of the derived program stand at the top of the page."""


def page(view: View, docs: str = "") -> str:
    """A whole page.  `docs` is the address of the page of rules; without it, links lead to the
    rules at the end of the page."""
    sections = [
        "derivation",
        "program",
        "candidates",
        "search",
        "data",
        "kernels",
        "rules",
        "reproduce",
    ]
    if not view.rules:
        sections.remove("rules")
    if view.data is None:
        sections.remove("data")
    names = ["link.js", "scrolling.js", "page.js", *(["data.js"] if view.data else [])]
    names += ["formula.js", "tree.js", "drawing.js", "search.js"] if view.search else []
    more = {"sections": sections, "script": "\n".join(map(file, names)), "most_stages": MOST_STAGES}
    return _rendered("page.html", view, docs, prefix="", **more)


def fragment(view: View, docs: str = "", drawn: bool = False) -> str:
    """One element for a notebook or another page, where several may stand.  With `drawn`, it shows
    pictures too, and its steps when they are asked for."""
    rules = [[step.rule for step in each.steps] for each in view.candidates]
    digest = sha256(repr((view.title, view.tensors, view.target, rules)).encode()).hexdigest()
    return _rendered("fragment.html", view, docs, prefix=f"d{digest[:8]}-", drawn=drawn)


def _rendered(template: str, view: View, docs: str, **more: object) -> str:
    known = {rule.name for rule in view.rules} if template == "page.html" or docs else set()
    return (
        environment()
        .get_template(template)
        .render(view=view, docs=docs, known=known, shown=_shown(view), css=file("page.css"), **more)
    )


def _shown(view: View) -> int:
    """The candidate that is open at first: the chosen one, or the best one that has steps."""
    derived = [each.number for each in view.candidates if each.steps] or [1]
    chosen = chosen_candidate(view)
    return chosen if chosen in derived else derived[0]


def chosen_candidate(view: View) -> int | None:
    """The number of the candidate that was measured as the fastest, if a candidate was."""
    trials = view.measured.trials if view.measured else ()
    labels = {program_of(each.label) for each in trials if each.chosen}
    return next((n.number for n in view.candidates if f"candidate {n.number}" in labels), None)


@cache
def file(name: str) -> str:
    """A style or a script of this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def environment(*folders: Path) -> Environment:
    """Templates of this folder, and of others that build on them."""
    found = Environment(
        loader=FileSystemLoader([FOLDER, *folders]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    filters = (
        amount,
        counted,
        duration,
        figure,
        or_blank,
        shortened,
        capitalised,
        chosen_candidate,
        place,
        told_shares,
        slowest,
        summaries,
        part,
    )
    found.filters |= {each.__name__: each for each in filters}
    found.filters |= {"extents": extents, "base64": _base64}
    return found


def or_blank(figure: str) -> str:
    """Nothing in the place of what was not measured."""
    return "" if figure == "-" else figure


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def place(found: Place) -> str:
    """`0, matmul` or `3 to conv2d`."""
    if not found.nearest:
        return f"{found.distance:g}"
    return f"{found.distance:g} to {found.nearest}" if found.distance else f"0, {found.nearest}"


def told_shares(shares: Sequence[Share]) -> str:
    return ", ".join(f"{share.cause} {duration(share.seconds)}" for share in shares)


def slowest(stages: Sequence[StageView]) -> float:
    """The most seconds that a stage takes; the bars are drawn beside it."""
    known = [sum(share.seconds for share in each.shares) for each in stages]
    known += [each.measured for each in stages if each.measured is not None]
    return max(known, default=0.0) or 1.0


def summaries(candidate: CandidateView) -> list[tuple[str, str]]:
    """The operators of the stages, each once, and what they compute."""
    names = {stage.operator for stage in candidate.stages}
    return [(each.name, each.summary) for each in OPERATORS if each.name in names]


def part(seconds: float, most: float) -> str:
    """A width in percent."""
    return f"{100 * seconds / most:.4g}%"


def extents(sizes: Sequence[int]) -> str:
    return shape(sizes).replace("x", "×")


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8")).decode("ascii")
