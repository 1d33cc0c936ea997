"""Directives that draw the calculus from real data while the documentation is built.

    ```{reindexing} skew
    :formula: Y[h] = A[h+r-1]*K[r] where h in 0:5
    :shapes: A=5 K=3
    :names: h,r
    ```

draws the points of the old iterators beside those of the new ones; a point has the same number on
both sides.  `names` are those of the loops, then of the sum's iterators.

    ```{search} Y[h,w] = A[h+i,w+j] where h in 0:50, w in 0:50, i in 0:15, j in 0:15
    :shapes: A=64,64
    ```

draws a search: a dot is an expression that equals the formula, at its predicted time.

    ```{mismatches} Y[h,f] = A[h//2+r,c]*K[r,c,f] where h in 0:8
    :shapes: A=8,4 K=3,4,16
    :operator: matmul
    :names: h,f,r,c
    ```

shows the iterators of an expression beside those of an operator.  The build fails where a rule, an
operator or a step is no longer there.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import product
from math import log10
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import einderive as ed
from einderive.derivations.matching.match import iterator_table, match
from einderive.derivations.rules import ALL_RULES
from einderive.derivations.search.searched import Searched
from einderive.derivations.steps import kernel
from einderive.derivations.steps.maps import Maps
from einderive.derivations.steps.told import NEVER, Names
from einderive.eops.library import OPERATORS
from einderive.frontend.arguments import shapes
from einderive.frontend.text import duration
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.printing.show import show

CELL, LEFT, TOP = 26, 34, 44
COLOURS = ("#2f7de1", "#e07b24", "#2a9d5c", "#b14fc5", "#c9a227", "#d2435a", "#1f9ea8", "#7a7f8a")
STYLE = """<style>
svg.calculus text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: currentColor; }
svg.calculus .t { font: 13px system-ui, sans-serif; }
svg.calculus .new { fill: none; stroke: currentColor; stroke-opacity: .55; stroke-dasharray: 3 3; }
svg.calculus .axis { stroke: currentColor; stroke-opacity: .6; fill: none; }
svg.calculus .other { fill: currentColor; fill-opacity: .22; }
svg.calculus .way { fill: none; stroke: #2f7de1; stroke-width: 1.6; }
svg.calculus .on { fill: #2f7de1; }
svg.calculus { max-width: 100%; height: auto; display: block; margin: .8rem 0; }
</style>"""
ORDINALS = ("first", "second", "third", "fourth")
Point = tuple[int, ...]


def drawing(width: float, height: float, title: str, parts: Sequence[str]) -> nodes.raw:
    """The drawing as a part of the page; the title is for those who cannot see it."""
    shown = (
        f'<svg class="calculus" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'role="img" aria-label="{escape(title)}">{STYLE}{"".join(parts)}</svg>'
    )
    around = f'<div class="drawn" tabindex="0" style="--wide:{width:.0f}px">{shown}</div>'
    return nodes.raw("", around, format="html")


def text_at(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    place = f'class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(words)}</text>"


class Reindexing(SphinxDirective):
    """A change of iterators, as points."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "formula": directives.unchanged_required,
        "shapes": directives.unchanged_required,
        "names": directives.unchanged_required,
        "number": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        given = shapes(self.options["shapes"].split())
        scope = ed.parse(self.options["formula"], **given).roots()[0]
        rule = next(r for r in ALL_RULES if r.name == self.arguments[0])
        found = [w for w in rule.propose(scope) if isinstance(w, Maps) and _drawable(scope, w)]
        if len(found) < self.options.get("number", 1):
            raise self.error(f"{rule.name} proposes no change of two iterators for {show(scope)}")
        witness = found[self.options.get("number", 1) - 1]
        names = self.options["names"].split(",")
        named = Names(tuple(names))
        leaving = [f"{what}: {value}" for what, value in witness.bound(scope, named)[2:]]
        words = [witness.words(scope, named), *(w for w in leaving if not w.endswith(NEVER))]
        lines = "<br>".join(f"<code>{escape(line)}</code>" for line in words)
        return [_reindexing(scope, witness, names), nodes.raw("", f"<p>{lines}</p>", format="html")]


def _drawable(scope: Scope, witness: Maps) -> bool:
    try:
        kernel.apply(scope, witness, exact=False)
    except RuleRefused:
        return False
    old, new = _concerned(scope, witness)
    return min(len(old), len(new)) >= 1 and max(len(old), len(new)) <= 2


def _concerned(scope: Scope, witness: Maps) -> tuple[list[int], list[int]]:
    """The old iterators and the new ones that the change concerns: those that stay as they are, and
    that no other row reads, are left out."""
    fixed = witness.fixed(scope)
    forward = [*affine.iterator_rows(fixed), *witness.forward]
    backward = [*affine.iterator_rows(fixed), *witness.backward]
    ranges = (*scope.domain[:fixed], *witness.ranges)
    same = {
        old: row.lone
        for old, row in enumerate(forward)
        if row.lone is not None
        and backward[row.lone].lone == old
        and ranges[row.lone] == scope.domain[old]
    }
    for old, new in dict(same).items():
        read = any(new in affine.iterators(row) for i, row in enumerate(forward) if i != old)
        back = any(old in affine.iterators(row) for j, row in enumerate(backward) if j != new)
        if read or back:
            del same[old]
    olds = [old for old in range(len(forward)) if old not in same]
    return olds, [new for new in range(len(backward)) if new not in same.values()]


def _reindexing(scope: Scope, witness: Maps, names: Sequence[str]) -> nodes.raw:
    fixed = witness.fixed(scope)
    fresh = [*names[:fixed], *witness.new_names(names)]
    ranges = (*scope.domain[:fixed], *witness.ranges)
    backward = [*affine.iterator_rows(fixed), *witness.backward]
    olds, news = _concerned(scope, witness)
    old, new = [scope.domain[i] for i in olds], [ranges[j] for j in news]
    number = {point: place for place, point in enumerate(_points(old))}
    image: dict[Point, int] = {}
    for point, place in number.items():
        value = dict(zip(olds, point, strict=True)).__getitem__
        image.setdefault(tuple(affine.evaluate(backward[j], value) for j in news), place)
    left = _grid(old, [names[i] for i in olds], LEFT, number, "before", number)
    gap = LEFT + _wide(old) + 80
    right = _grid(new, [fresh[j] for j in news], gap, image, "after", number)
    height = TOP + CELL * max(_high(old), _high(new)) + 26
    title = f"Points before and after: {witness.words(scope, Names(tuple(names)))}"
    return drawing(gap + _wide(new) + 10, height, title, [*left, *right])


def _points(box: Sequence[Range]) -> list[Point]:
    return list(product(*(range(lo, hi) for lo, hi in box)))


def _wide(box: Sequence[Range]) -> float:
    return CELL * box[-1].extent


def _high(box: Sequence[Range]) -> int:
    return box[0].extent if len(box) == 2 else 1


def _grid(
    box: Sequence[Range],
    names: Sequence[str],
    x: float,
    numbered: dict[Point, int],
    title: str,
    old: dict[Point, int],
) -> list[str]:
    """The points of the box: rows for its first iterator, columns for its last one."""
    first = {place: point[0] for point, place in old.items()}
    parts = [text_at(x, 14, title, "t")]
    *_, across = box
    down = box[0] if len(box) == 2 else Range(0, 1)
    for column in range(across.extent):
        name = f"{names[-1]}=" if column == 0 else ""
        at = x + CELL * (column + 0.5)
        parts.append(text_at(at, TOP - 8, f"{name}{across.lo + column}", anchor="middle"))
    for line in range(down.extent):
        y = TOP + CELL * line
        if len(box) == 2:
            parts.append(text_at(x - 4, y + 17, f"{names[0]}={down.lo + line}", anchor="end"))
        for column in range(across.extent):
            point = (*((down.lo + line,) if len(box) == 2 else ()), across.lo + column)
            place = numbered.get(point)
            left = x + CELL * column
            square = (
                f'x="{left + 2:.1f}" y="{y + 2:.1f}" width="{CELL - 4}" height="{CELL - 4}" rx="3"'
            )
            if place is None:
                parts.append(f'<rect class="new" {square}/>')
                continue
            colour = COLOURS[first[place] % len(COLOURS)]
            parts.append(f'<rect fill="{colour}" fill-opacity=".45" {square}/>')
            parts.append(text_at(left + CELL / 2, y + 17, str(place), anchor="middle"))
    return parts


def _facts(words: Sequence[tuple[str, str]]) -> nodes.raw:
    rows = "".join(f"<dt>{escape(a)}</dt><dd><code>{escape(b)}</code></dd>" for a, b in words)
    return nodes.raw("", f'<dl class="field-list simple">{rows}</dl>', format="html")


class Search(SphinxDirective):
    """A search, as a picture."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012
        "shapes": directives.unchanged_required,
        "states": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        derivation = ed.derive(
            self.arguments[0],
            budget=ed.Budget(states=self.options.get("states", 400)),
            **shapes(self.options["shapes"].split()),
        )
        found = derivation.searched()
        if found is None or not found.programs:
            raise self.error("the search kept no graph")
        return [_search(found)]


def _search(found: Searched) -> nodes.raw:
    """The expressions that equal the output: their predicted seconds, in the order found."""
    equal = [found.given[-1]]
    for number in equal:  # grows while it is read
        beside = [(e.before, e.after) for e in found.equalities if number in (e.before, e.after)]
        equal += dict.fromkeys(n for pair in beside for n in pair if n not in equal)
    order = {number: place for place, number in enumerate(sorted(equal))}
    logs = {number: log10(found.states[number].total) for number in equal}
    low, high = min(logs.values()), max(logs.values())
    wide, tall, left, top = 640.0, 230.0, 70.0, 28.0

    def place(number: int) -> tuple[float, float]:
        along = order[number] / max(1, len(equal) - 1)
        return left + (wide - 20) * along, top + tall * (high - logs[number]) / (high - low or 1.0)

    parts = [
        f'<path class="axis" d="M{left - 8} {top - 6}V{top + tall + 8}H{left + wide}"/>',
        text_at(left - 12, top + 6, duration(10**high), anchor="end"),
        text_at(left - 12, top + tall + 4, duration(10**low), anchor="end"),
        text_at(left - 6, 14, "predicted time, each scope as one stage", "t"),
        text_at(left + wide, top + tall + 26, f"{len(equal)} expressions, as found", "t", "end"),
    ]
    way = [number for number in found.programs[0] if number in order]
    drawn: set[frozenset[int]] = set()
    for step in found.equalities:
        pair = frozenset((step.before, step.after))
        if pair <= {*way} and pair not in drawn:
            drawn.add(pair)
            (x, y), (u, v) = place(step.before), place(step.after)
            parts.append(f'<path class="way" d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"/>')
            words = escape(step.rule)
            parts.append(f'<text x="{(x + u) / 2 + 6:.1f}" y="{(y + v) / 2:.1f}">{words}</text>')
    for number in equal:
        x, y = place(number)
        kind = "on" if number in way else "other"
        words = escape(found.states[number].text)
        circle = f'class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{4 if number in way else 2.6}"'
        parts.append(f"<circle {circle}><title>{words}</title></circle>")
    title = f"{len(equal)} expressions of a search; the way to the chosen program is marked"
    return drawing(left + wide + 20, top + tall + 40, title, parts)


class Mismatches(SphinxDirective):
    """The iterators of an expression in the operands of an operator, and what does not fit."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012
        "shapes": directives.unchanged_required,
        "operator": directives.unchanged_required,
        "names": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        program = ed.parse(self.arguments[0], **shapes(self.options["shapes"].split()))
        operator = next(o for o in OPERATORS if o.name == self.options["operator"])
        scope = program.roots()[0]
        found = match(operator, scope)
        if isinstance(found, Binding):
            raise self.error(f"{operator.name} computes {show(scope)}: nothing mismatches")
        table = _row("th", "iterator", "range", "operands that hold it", "can play")
        for name, bound, held in zip(
            self.options["names"].split(","),
            scope.domain,
            iterator_table(operator, scope),
            strict=True,
        ):
            places = ", ".join(map(ORDINALS.__getitem__, held.operands)) or "none"
            roles = ", ".join(held.roles) or "no role"
            table += _row("td", name, f"{bound.lo}:{bound.hi}", places, roles)
        items = "".join(
            f"<li>{escape(one.detail)}: {escape(', '.join(one.repairs))}</li>" for one in found
        )
        facts = _facts([("expression", self.arguments[0]), (operator.name, operator.definition)])
        text = f'<table class="docutils">{table}</table><ul>{items}</ul>'
        return [facts, nodes.raw("", text, format="html")]


def _row(kind: str, *cells: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("reindexing", Reindexing)
    app.add_directive("search", Search)
    app.add_directive("mismatches", Mismatches)
    return {"parallel_read_safe": True, "version": "1"}
