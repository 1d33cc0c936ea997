"""Candidates whose stages are compiled into loops (`eops.cpu_kernels`)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from math import inf, isfinite
from time import perf_counter

from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import FOLDED, Stage
from einderive.derivations.search.reciprocals import with_reciprocals
from einderive.eops.back_ends import narrow_products
from einderive.eops.back_ends.compilers import usable
from einderive.eops.back_ends.cpu_kernels import points
from einderive.eops.back_ends.cpu_kernels import worth_compiling as stage_is_worth
from einderive.eops.back_ends.task import Task
from einderive.frontend.accuracy.inputs.chosen import NARROW
from einderive.frontend.derived import Derived
from einderive.frontend.limits.refusal import refused_plan
from einderive.frontend.machine.as_loops import as_loops, fastest_as_loops
from einderive.frontend.machine.empty_graph import empty_graph
from einderive.frontend.running.execute import tasks_of
from einderive.frontend.timed.trial import (
    AS_GIVEN,
    IN_FLOAT64,
    IN_LOOPS,
    Trial,
    in_float64,
    in_loops,
)
from einderive.frontend.trial.entrants import Entrant, Judge, entered, reason
from einderive.frontend.trial.shifted import about_maxima, named
from einderive.ta.ir.subst import nested_scopes, stages

PREDICTING = 0.1
"""The part of the time for all programs in which predictions for compiled loops begin."""
COMPILING = 0.4
"""The part of the time for all programs in which compiling may begin."""
ONE_SECONDS = 0.2
"""A program takes about so long to compile, to judge and to run, or as long as the one before."""
MORE_SECONDS = 0.6
"""To predict which candidates are fast as loops, and to compile the first ones, takes about so
long."""
MOST_STAGES = 16
"""A program with more stages to compile is left as it is."""
STAGE_SECONDS = 0.08
"""A stage takes about so long to compile."""
POINT_SECONDS = 5e-11
"""A step of a compiled loop takes at least about so long, by several threads."""
HOPELESS, HOPELESS_LATE = 3.0, 0.5
"""A program that takes at least this many times the fastest one's time is not compiled; nor is the
formula as given where little time is left and it takes at least half of that time."""
PREDICTED_LATE = 4.0
"""It is compiled in any case where it is predicted to take less than so many times the fastest
one's time: predictions are for slow memory, and a normalisation of 16 MB takes an eighth of what is
predicted where memory is fast."""
PROMISING, PROMISING_SECONDS = 0.85, 0.3
"""What is predicted to take less than this part of the fastest one's time is compiled also where
little time is left, as long as this many seconds are."""
FAR_FASTER = 4.0
"""Loops that are so many times as fast as a slow plain program leave out others like it; what is
predicted to be so much faster than all others is compiled in any case, `MOST_HOPES` times."""
MOST_HOPES = 2
MOST_WIDE = 2
"""So many programs are compiled in float64 where their loops in float32 are refused."""
MOST_WRONG = 8.0
"""Other stages take at least the predicted time divided by this."""


def worth_compiling(
    derivation: Derived, entrants: Sequence[Entrant], judge: Judge
) -> Iterator[tuple[str, Plan]]:
    """The programs to compile, with their labels, while there is time: the formula as it is given,
    the candidates whose exponentials do not overflow, as the formula may be refused for that; then,
    in turn, the candidate that is predicted to be the next fastest as loops, and the next fastest
    one of those that were run: also of those that are slow stage by stage."""
    if derivation.target != "cpu":
        return
    started, judge.compiling = perf_counter(), 0.0
    given = apart(derivation.unchanged)
    others = _in_turn(derivation, entrants, judge)
    found = chain([(inf, AS_GIVEN, given)], _without_overflow(derivation), others)
    last, off, hopes = 0.0, 1.0, MOST_HOPES
    known = {AS_GIVEN}
    tried = any(each.trial.label == AS_GIVEN for each in entrants)
    for number, (predicted, label, plan) in enumerate(islice(found, judge.effort.compiled)):
        if (number or tried) and label in known:
            continue
        known.add(label)
        if number == 1:  # the formula as given was tried, if it is to be
            off = _off(given, entrants)
        seconds = predicted * off
        begun = perf_counter()
        spent = begun - started
        late = judge.left < judge.racing + max(last, ONE_SECONDS)
        fastest = min((each.seconds for each in entrants if each.run is not None), default=inf)
        far = number > 0 and FAR_FASTER * seconds < fastest < inf and hopes > 0
        hopes -= far
        sure = far or (seconds < PROMISING * fastest and judge.left > PROMISING_SECONDS)
        if number and spent > COMPILING * judge.effort.altogether and not far:
            return
        if late and label != AS_GIVEN and not sure:
            return
        hopeless = (HOPELESS_LATE if late else HOPELESS) * fastest
        if late and label == AS_GIVEN and isfinite(fastest):  # loops may leave out many points
            sure = as_loops(plan) < PREDICTED_LATE * fastest
        if _plan_is_worth(plan, inf if sure else hopeless):
            yield label, plan
            last = perf_counter() - begun


def with_products(
    derivation: Derived, entrants: Sequence[Entrant], judge: Judge
) -> tuple[Derived, list[Entrant]]:
    """The fastest compiled program once more, with products with reciprocals in place of quotients
    by what its inner loops do not change, as one more candidate; nothing where it has none."""
    running = [each for each in entrants if each.run is not None]
    loops = [each for each in running if in_loops(each.trial.label)]
    best = min(loops, key=lambda each: each.seconds, default=None)
    if best is None or best.trial.plan is None or judge.left < PROMISING_SECONDS:
        return derivation, []
    if PROMISING * best.seconds > min(each.seconds for each in running):
        return derivation, []
    graph = derivation.graph or empty_graph(derivation, best.trial.plan.roots)
    plan = with_reciprocals(graph, best.trial.plan)
    if plan is None:
        return derivation, []
    roots = [candidate.roots for candidate in derivation.candidates]
    if plan.roots in roots:
        plan = derivation.candidates[roots.index(plan.roots)]
    else:
        derivation = replace(derivation, candidates=(*derivation.candidates, plan))
        roots.append(plan.roots)
    label = f"candidate {roots.index(plan.roots) + 1}{IN_LOOPS}"
    if any(each.trial.label == label for each in entrants):
        return derivation, []
    return derivation, [compiled_candidate(label, plan, judge)]


def beside_slow_lines(derivation: Derived, seconds: float, judge: Judge) -> Entrant | None:
    """The formula as given in loops, where a run of a plain program took so many seconds that no
    time is left for others: None where it is not right, or not far faster."""
    if derivation.target != "cpu" or not judge.effort.compiled:
        return None
    plan = apart(derivation.unchanged)
    if not judge.effort.before < seconds < inf or not _plan_is_worth(plan, PROMISING * seconds):
        return None
    judge.begun += loading_seconds(derivation)
    found = compiled_candidate(AS_GIVEN, plan, judge)
    return found if found.run is not None and FAR_FASTER * found.seconds < seconds else None


def after_all(derivation: Derived, entrants: Sequence[Entrant], judge: Judge) -> list[Entrant]:
    """A program that was not compiled beside far faster ones that have been refused since; nothing
    where it is far behind those that are left.  It is the formula as given in loops; where that is
    refused, the first candidate whose exponentials do not overflow."""
    if derivation.target != "cpu" or not judge.effort.compiled:
        return []
    label, plan = AS_GIVEN, apart(derivation.unchanged)
    given = next((each for each in entrants if each.trial.label == AS_GIVEN), None)
    if given is not None and given.run is None:
        label, plan = next(
            ((label, plan) for _, label, plan in _without_overflow(derivation)), (label, plan)
        )
    fastest = min((each.seconds for each in entrants if each.run is not None), default=inf)
    tried = any(each.trial.label == label for each in entrants)
    if tried or not _plan_is_worth(plan, HOPELESS * fastest):
        return []
    return [compiled_candidate(label, plan, judge)]


def computed_in_float64(
    derivation: Derived, entrants: Sequence[Entrant], best: Entrant | None, judge: Judge
) -> list[Entrant]:
    """The formula as given, and the fastest candidate, in loops that compute in float64 what it
    computes in float32: where the loops in float32 were too inexact, and far faster than the best
    program that is left.  Squares of 1e-25 vanish in float32, for example, and `torch.std`, which
    computes in float64, divides by them."""
    if derivation.target != "cpu" or not any(t.dtype in NARROW for t in judge.program.inputs):
        return []
    bar = PROMISING * (inf if best is None else best.seconds)
    known = {entrant.trial.label for entrant in entrants}
    trials = [e.trial for e in entrants if e.run is None and e.trial.inexact and e.seconds < bar]
    inexact = [trial for trial in trials if in_loops(trial.label) and not in_float64(trial.label)]
    inexact.sort(key=lambda trial: (trial.label != AS_GIVEN, trial.seconds))
    return [
        compiled_candidate(f"{trial.label}{IN_FLOAT64}", trial.plan, judge)
        for trial in inexact[:MOST_WIDE]
        if trial.plan is not None and f"{trial.label}{IN_FLOAT64}" not in known
    ]


def _plan_is_worth(plan: Plan, most: float) -> bool:
    """Whether there are stages to compile, and the program may take less than this many seconds."""
    worth = _compiled(plan)
    inside = {task.scope for task in worth}
    rest = sum(stage.seconds for stage in plan.stages if stage.scope not in inside)
    least = sum(map(_least, worth)) + rest / MOST_WRONG
    return 0 < len(worth) <= MOST_STAGES and least <= most


def _off(given: Plan, entrants: Sequence[Entrant]) -> float:
    """By how much predictions for loops are too long: the measured time of the formula as given
    divided by the predicted one; 1 where it is not measured, or is not shorter."""
    trials = (entrant.trial for entrant in entrants)
    measured = next((trial.seconds for trial in trials if trial.label == AS_GIVEN), inf)
    return min(1.0, measured / as_loops(given)) if isfinite(measured) else 1.0


def _without_overflow(derivation: Derived) -> Iterator[tuple[float, str, Plan]]:
    """The first candidate whose exponentials are about their maximum, and the one with the most
    named functions, each as one that is fast."""
    for found in (about_maxima(derivation), named(derivation)):
        if found is not None:
            yield 0.0, f"candidate {found[0]}{IN_LOOPS}", found[1]


def _in_turn(
    derivation: Derived, entrants: Sequence[Entrant], judge: Judge
) -> Iterator[tuple[float, str, Plan]]:
    """Candidates with their labels, and the seconds that are predicted for them as loops, infinite
    where they are not known."""
    tried = [entrant for entrant in entrants if entrant.trial.plan is not None]
    wrong = {
        entrant.trial.plan.kernels
        for entrant in tried
        if entrant.trial.plan is not None and entrant.trial.verdict.startswith("refused")
    }
    numbers = {plan.kernels: n for n, plan in reversed([*enumerate(derivation.candidates, 1)])}
    right = [entrant for entrant in tried if entrant.run is not None or entrant.slow]
    right.sort(key=lambda entrant: entrant.seconds)
    measured = [entrant.trial.plan for entrant in right if entrant.trial.plan is not None]
    given = derivation.unchanged.roots
    others = [plan for plan in derivation.candidates if plan.kernels not in wrong]
    predicted = fastest_as_loops(
        [plan for plan in others if plan.roots != given], PREDICTING * judge.effort.altogether
    )
    known: set[object] = set()
    for pair in zip_longest(predicted, ((inf, plan) for plan in measured)):
        for seconds, plan in filter(None, pair):
            if plan.roots != given and plan.kernels not in known:
                known.add(plan.kernels)
                yield seconds, f"candidate {numbers[plan.kernels]}{IN_LOOPS}", plan


def loading_seconds(derivation: Derived) -> float:
    """Seconds in which the packages were loaded that compile loops: nothing but the first time in a
    process."""
    begun = perf_counter()
    if derivation.target != "cpu" or not usable():
        return 0.0
    importlib.import_module("einderive.eops.cpu_kernels.build")
    return perf_counter() - begun


def compiling_seconds(derivation: Derived) -> float:
    """About how long the formula as given takes to compile into loops, and candidates as well where
    there are some; 0 where the formula is not tried."""
    if derivation.target != "cpu":
        return 0.0
    count = len(_compiled(apart(derivation.unchanged)))
    if count > MOST_STAGES:
        return 0.0
    return STAGE_SECONDS * count + MORE_SECONDS * (len(derivation.candidates) > 1)


def _least(task: Task) -> float:
    """Seconds that a compiled stage takes at least."""
    narrow = narrow_products.predicted(task)
    return POINT_SECONDS * points(task.scope) if narrow is None else narrow / 2


def _compiled(plan: Plan) -> list[Task]:
    """The tasks of the stages that are worth compiling."""
    return [t for t in tasks_of(plan.stages, "cpu", compiled=True) if stage_is_worth(t)]


def apart(plan: Plan) -> Plan:
    """The program with the stages that an operator computes together as stages of their own: a
    softmax as maximum, sum and quotient, which one kernel may compute."""
    known = {stage.scope: stage for stage in plan.stages}
    if not any(stage.reads_past for stage in plan.stages):
        return plan
    folded = {stage.scope for stage in plan.stages if stage.operator == FOLDED}
    below = {*stages(*folded)} - folded
    found = []
    for scope in stages(*plan.roots):
        stage = known.get(scope)
        if stage is not None and not stage.reads_past:
            found.append(stage)
        elif scope not in below or stage is not None:
            found.append(Stage(scope, None, None, 0.0, nested_scopes(scope), 0.0, ""))
    return replace(plan, stages=tuple(found))


def compile_for_other_sizes(chosen: Entrant, judge: Judge) -> None:
    """Compiles the kernels of the chosen program with the named sizes as arguments, so that nothing
    is compiled for another size.  For the size that was asked for, they stay in the code: such
    kernels are faster."""
    plan, compiled = chosen.trial.plan, in_loops(chosen.trial.label)
    may_have_kernels = compiled or (judge.device == "cuda" and judge.effort.compiled > 0)
    if plan is None or not judge.program.sizes or not may_have_kernels:
        return
    try:
        wide = in_float64(chosen.trial.label)
        judge.built(plan, compiled=compiled, open_sizes=True, wide=wide)(judge.expected.inputs)
    except Exception:  # numba's own errors are no subclasses of any of PROBLEMS
        return  # another size is compiled by itself


def compiled_candidate(label: str, plan: Plan, judge: Judge) -> Entrant:
    """A program whose stages are compiled, as an entrant.  Compiling happens at its first run, of
    which the time does not count."""
    entrant = Entrant(Trial(label, plan, (), inf, inf, "accepted"))
    if (found := refused_plan(judge.limits, plan, compiled=True)) is not None:
        return judge.left_out(entrant, found)
    try:
        built = judge.built(plan, compiled=True, wide=in_float64(label))
        built(judge.expected.inputs)
    except Exception as problem:  # numba's own errors are no subclasses of any of PROBLEMS
        return entrant.out(f"not built: {reason(problem)}")
    return entered(entrant, plan, built, judge)
