"""Two derivations as one view: steps aligned, programs and costs beside each other.

    steps      split-sum, skew, fold        figures      predicted   31 us    12 us    0.39
               split-sum,       fold

Steps are aligned by their rules, with the longest common parts kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import zip_longest

from einderive.frontend.derived import Derived
from einderive.frontend.explorer.comparison.models import Comparison, FigureRow, Side, StepRow
from einderive.frontend.explorer.models import CandidateView, DataView, StepView, View
from einderive.frontend.explorer.page import slowest
from einderive.frontend.explorer.pieces.figures import amount
from einderive.frontend.explorer.view import view_of
from einderive.frontend.text import counted, duration, figure
from einderive.ta.errors import TextError

NAMES = ("left", "right")


def compared(
    left: Derived,
    right: Derived,
    names: tuple[str, str] = NAMES,
    candidates: tuple[int | None, int | None] = (None, None),
) -> Comparison:
    """The comparison of a candidate of each derivation, counted from 1; without a number, of the
    best one that has steps."""
    one, other = (
        _side(each, name, number)
        for each, name, number in zip((left, right), names, candidates, strict=True)
    )
    steps = tuple(aligned(one.candidate.steps, other.candidate.steps))
    same = left.source.roots() == right.source.roots()
    return Comparison(
        left=one,
        right=other,
        words=_words(same, steps),
        figures=tuple(_figures(one, other)),
        steps=steps,
        slowest=max(slowest(side.candidate.stages) for side in (one, other)),
        data=_data(one, other),
    )


def _side(derivation: Derived, name: str, number: int | None) -> Side:
    count = len(derivation.candidates)
    if number is not None and not 1 <= number <= count:
        raise TextError(
            f"{name} has no candidate {number}", next_step=f"candidates are 1 to {count}"
        )
    place = next((n for n, plan in enumerate(derivation.candidates, 1) if plan.steps), 1)
    chosen = place if number is None else number
    view = view_of(derivation, checked=chosen, data=True, shown=chosen)
    return Side(name, view, view.candidates[chosen - 1])


def aligned(left: tuple[StepView, ...], right: tuple[StepView, ...]) -> Iterator[StepRow]:
    """The steps of both, each once and in order."""
    one, other = ([step.rule for step in steps] for steps in (left, right))
    for _, i, to_i, j, to_j in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for a, b in zip_longest(left[i:to_i], right[j:to_j]):
            yield StepRow(a, b, _same(a, b))


def _same(left: StepView | None, right: StepView | None) -> bool:
    if left is None or right is None or left.rule != right.rule:
        return False
    texts = [[line.text for line in (*step.before, *step.after)] for step in (left, right)]
    return texts[0] == texts[1]


def _words(same: bool, steps: tuple[StepRow, ...]) -> str:
    shared = sum(row.same for row in steps)
    formula = "Both derive the same formula" if same else "The formulas or their sizes differ"
    if not steps:
        return f"{formula}, without a step."
    of = counted(len(steps), "place")
    return (
        f"{formula}; {counted(shared, 'step')} of {of} {'is' if shared == 1 else 'are'} the same."
    )


def _figures(left: Side, right: Side) -> Iterator[FigureRow]:
    a, b = left.candidate, right.candidate
    given = left.view.baseline_seconds, right.view.baseline_seconds
    yield _row("predicted time", a.seconds, b.seconds)
    yield _row("of the formula as given", *given)
    yield _row("least time by the roofline", _roof(a), _roof(b))
    yield _row("operations", _sum(a, "operations"), _sum(b, "operations"), amount)
    yield _row("bytes", _sum(a, "bytes_moved"), _sum(b, "bytes_moved"), amount)
    yield FigureRow("steps", str(len(a.steps)), str(len(b.steps)))
    yield FigureRow("computed by", a.operators, b.operators)
    yield FigureRow("digits", a.digits, b.digits)
    yield FigureRow("for", left.view.target, right.view.target)
    yield FigureRow("search", left.view.searched, right.view.searched)
    yield FigureRow("candidates", str(len(left.view.candidates)), str(len(right.view.candidates)))


def _row(
    name: str, one: float, other: float, words: Callable[[float], str] = duration
) -> FigureRow:
    ratio = figure(other / one) if one and other else ""
    return FigureRow(name, words(one), words(other), ratio)


def _roof(candidate: CandidateView) -> float:
    return sum(each.roof.seconds for each in candidate.stages if each.roof is not None)


def _sum(candidate: CandidateView, name: str) -> float:
    return float(sum(getattr(each, name) for each in candidate.stages))


def _data(left: Side, right: Side) -> DataView | None:
    """The programs on small instances, each as far as it has one."""
    programs = tuple(
        replace(_last(side.view).programs[-1], title=side.name)
        for side in (left, right)
        if side.view.data is not None
    )
    return DataView("", programs) if programs else None


def _last(view: View) -> DataView:
    assert view.data is not None
    return view.data
