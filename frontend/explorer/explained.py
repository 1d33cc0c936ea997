"""A derivation explained on a terminal, from the same view models as the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from einderive.frontend.explorer.models import CandidateView, MeasuredView, StepView, View
from einderive.frontend.explorer.page import place
from einderive.frontend.explorer.pieces.lines import Line
from einderive.frontend.explorer.why_not import Attempt, summary
from einderive.frontend.report.terminal import indented, labelled
from einderive.frontend.text import capitalised, duration

BAR = 24
"""The columns of the longest bar."""


def explained(view: View, number: int) -> Iterator[RenderableType]:
    """The steps of one candidate, its program, and all candidates with bars."""
    candidate = view.candidates[number - 1]
    for line in view.formula:
        yield Text(line.text, "bold")
    yield indented(f"{view.tensors}; for {view.target}")
    yield indented(view.searched, style="dim")
    if view.measured is not None and view.measured.underived:
        yield ""
        yield indented(f"{capitalised(view.measured.underived)}.", style="bold")
    if view.measured is not None and view.measured.without_loops:
        yield indented(view.measured.without_loops)
    yield ""
    yield Text(f"candidate {number}: {candidate.title}", "bold")
    for line in candidate.given:
        yield indented(line.text, 8)
    for step in candidate.steps:
        yield from _step(step)
    yield ""
    yield from _program(candidate)
    yield ""
    yield Text(f"candidates for {view.target}", "bold")
    yield _candidates(view, number)
    if view.measured is not None:
        yield ""
        yield from _measured(view.measured)


def _step(step: StepView) -> Iterator[RenderableType]:
    yield ""
    verdict = (f"  {step.checked}", "green" if step.holds else "red") if step.checked else ""
    yield Text.assemble(f"{step.number:3}. ", (step.rule, "cyan"), verdict)
    yield indented(step.equation, 5, "dim")
    for lines, sign, colour in ((step.before, "-", "red"), (step.after, "+", "green")):
        for line in lines:
            yield Padding(_marked(line, sign, colour), (0, 0, 0, 5))
    way = f"{place(step.come_from)} -> {place(step.leads_to)}"
    seconds = f"{duration(step.come_from.seconds)} -> {duration(step.leads_to.seconds)} predicted"
    told = (
        ("witness", step.witness),
        ("here", "; ".join(f"{name}: {value}" for name, value in step.bound)),
        ("if", step.conditions),
        ("distance", way),
        ("program", seconds),
        ("digits", step.digits),
        ("NaN", step.nonfinite),
    )
    for label, text in told:
        if text:
            yield Padding(labelled(label, text), (0, 0, 0, 3))


def _marked(line: Line, sign: str, colour: str) -> Text:
    """The statement, its changed part in colour and underlined; a statement of its own whole."""
    text = Text(f"{sign} ", colour)
    for piece in line.pieces:
        text.append(piece.text, f"{colour} underline" if piece.changed or line.fresh else "default")
    return text


def _program(candidate: CandidateView) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("program", "computed by", "predicted", "bound by"):
        table.add_column(name, justify="right" if name == "predicted" else "left")
    for stage in candidate.stages:
        seconds = "" if stage.seconds is None else duration(stage.seconds)
        table.add_row(Text(stage.line.text), Text(stage.operator, "cyan"), seconds, stage.bound)
    yield table
    for text in (candidate.digits, candidate.assumptions):
        if text:
            yield indented(text, style="dim")


def _candidates(view: View, shown: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in ("left", "right", "right", "left", "left"):
        table.add_column(justify=side)
    longest = max((each.seconds for each in view.candidates), default=0.0) or 1.0
    for each in view.candidates:
        bar = "█" * max(1, round(BAR * each.seconds / longest))
        mark = "*" if each.number == shown else ""
        operators = Text(f"{each.title}: {each.operators}")
        table.add_row(mark, str(each.number), duration(each.seconds), Text(bar, "blue"), operators)
    return table


def _measured(found: MeasuredView) -> Iterator[RenderableType]:
    """The race: each program's time with its spread, as a bar, and what became of it."""
    yield Text("race", "bold")
    yield indented(found.where, style="dim")
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in ("left", "left", "right", "right", "left", "right", "right", "left"):
        table.add_column(justify=side)
    heads = ("", "program", "time", "+-", "", "speed", "error", "verdict")
    table.add_row(*(Text(head, "bold") for head in heads))
    for each in found.trials:
        bar = "█" * max(1, round(BAR * each.width / 100)) if each.width else ""
        table.add_row(
            "*" if each.chosen else "",
            Text(each.label),
            each.seconds,
            each.spread,
            Text(bar, "blue"),
            each.speed,
            each.error,
            Text(each.verdict, "green" if each.accepted else "red"),
        )
    yield table
    yield Text(found.verdict, "bold")
    if found.warning:
        yield Text(found.warning, "red")


def refusals(name: str, found: Sequence[Attempt]) -> Iterator[RenderableType]:
    """What a rule proposes, stage by stage, and why it is refused."""
    yield Text.assemble((name, "cyan"), f": {summary(found)}")
    yield indented(f"`einderive rules {name}` says what it is for and what it needs", 2, "dim")
    last = ""
    for attempt in found:
        if attempt.place != last:
            yield ""
            yield Text(f"  {attempt.place}", "bold")
            last = attempt.place
        if attempt.witness:
            yield indented(attempt.witness, 4)
        if attempt.refused:
            yield indented(f"not: {attempt.refused}", 6, "red")
        elif attempt.seconds is not None:
            before, after = map(duration, attempt.seconds)
            yield indented(f"can be taken: {before} -> {after} predicted", 6, "green")
