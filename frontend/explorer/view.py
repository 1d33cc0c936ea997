"""Everything that a page about a derivation shows, put together from its parts."""

from __future__ import annotations

from einderive.derivations.search.extract import Plan
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.data import data_view
from einderive.frontend.explorer.kernels import kernel_views
from einderive.frontend.explorer.models import CandidateView, View
from einderive.frontend.explorer.pieces.lines import Line, plain_line
from einderive.frontend.explorer.program import drawing, stage_views
from einderive.frontend.explorer.reproduce import reproduction
from einderive.frontend.explorer.roofline import machine_words
from einderive.frontend.explorer.search import search_view
from einderive.frontend.explorer.steps import graph_of, rule_cards, step_views
from einderive.frontend.explorer.trials import measured_view
from einderive.frontend.measurements.recorded import Race, RecordedRace, StageSeconds
from einderive.frontend.measurements.stages import stage_seconds
from einderive.frontend.report.derivation import assumptions, digits, plan_operators, searched
from einderive.frontend.report.story import Story, tell
from einderive.frontend.text import counted, tensors
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program, show_statement

CHECKED = 4
"""This many candidates are checked for a page; a check of one takes up to seconds."""


def view_of(
    derivation: Derived,
    race: Race | None = None,
    checked: int = CHECKED,
    search: bool = False,
    data: bool = False,
    kernels: bool = False,
    shown: int | None = None,
    stages: StageSeconds | None = None,
) -> View:
    """The derivation, and a race of its programs if there is one, run here or recorded.

    Where it is asked for, its search if that is known, its data on a small instance, and of its
    first candidates the kernels.  Beside a race that was run here it has the times of single
    stages, which are measured for it unless they are given as `stages`.  `shown` is the number of
    the candidate of which the data are shown; without it, it is the best one that has steps."""
    found = derivation.searched() if search else None
    graph = graph_of(derivation)
    derived = _first_derived(derivation) if shown is None else derivation.candidates[shown - 1]
    timed: StageSeconds = stages or {}
    if isinstance(race, RecordedRace):
        timed = race.stages
    elif stages is None and isinstance(race, Outcome) and kernels:
        timed = stage_seconds(race, derivation.candidates)
    candidates = []
    for place, plan in enumerate(derivation.candidates):
        story = tell(derivation, plan)
        report = derivation.check(place) if place < checked else None
        lines = stage_views(derivation, plan, graph, timed)
        written = kernels and (place < CHECKED or plan is derived)
        candidates.append(
            CandidateView(
                number=place + 1,
                title=counted(len(plan.steps), "step") if plan.steps else "the formula as given",
                given=_given(story),
                steps=tuple(step_views(graph, plan, story, report)),
                stages=tuple(lines),
                drawing=drawing(lines, derivation.staged(plan)),
                narrow=drawing(lines, derivation.staged(plan), down=True),
                seconds=plan.seconds,
                operators=plan_operators(plan),
                digits=digits(plan.steps),
                assumptions=assumptions(plan.steps),
                findings=() if report is None else tuple(map(str, report.findings)),
                kernels=kernel_views(derivation, place, tuple(lines)) if written else (),
            )
        )
    names = [step.rule for candidate in candidates for step in candidate.steps]
    return View(
        title="; ".join(show_program(derivation.source).splitlines()),
        formula=program_lines(derivation.source),
        tensors=tensors(derivation.source.inputs),
        target=derivation.target,
        searched=searched(derivation.stats),
        candidates=tuple(candidates),
        baseline_seconds=derivation.unchanged.seconds,
        machine=machine_words(graph.machine),
        rules=rule_cards(names),
        reproduction=reproduction(derivation),
        measured=None if race is None else measured_view(race),
        search=None if found is None else search_view(found, derivation.stats),
        data=data_view(derivation, derived) if data else None,
    )


def _first_derived(derivation: Derived) -> Plan:
    """The best candidate that has steps, which the page opens first."""
    return next((plan for plan in derivation.candidates if plan.steps), derivation.candidates[0])


def _given(story: Story) -> tuple[Line, ...]:
    """The program before the first step, where it is not the text that was given."""
    statements = story.first if story.given else ()
    return tuple(
        plain_line(text, statement, story.hints)
        for text, statement in zip(story.given, statements, strict=True)
    )


def program_lines(program: Program) -> tuple[Line, ...]:
    """The statements of a program."""
    excluded = frozenset(tensor.name for tensor in program.inputs)
    excluded |= {statement.name for statement in program.statements}
    return tuple(
        plain_line(show_statement(each, program.hints, excluded), each, program.hints)
        for each in program.statements
    )
