"""`einderive bench search`: what the search's ideas are worth, on four of the reference's cases.

Each case is searched under growing budgets, in three ways: as it is; with converging steps as dear
as any other (no convergence); and with every scope expanded again for every path that reaches it
(duplicates kept).  A case is found where the candidates hold the program that the reference system
derives, or the best of them is predicted to cost no more than that program.  No measurement: the
costs are predicted for the target.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.matching.machine import Machine
from einderive.derivations.rules import LAWLESS
from einderive.derivations.search.explore import EXPLORING_EFFORT, explore
from einderive.derivations.search.extract import Plan, plans, unchanged
from einderive.derivations.search.graph import Graph, default_item_bytes
from einderive.derivations.search.progress import Watch
from einderive.derivations.search.run import no_collection, peak_bytes
from einderive.derivations.search.strategy import Budget
from einderive.eops.library import OPERATORS
from einderive.frontend.api.formula import parse
from einderive.frontend.api.optimize import target_of
from einderive.frontend.bench.rows import Rows
from einderive.frontend.bench.suite import Case, one_line
from einderive.frontend.report.data import plain
from einderive.ta.errors import NameUnknownError
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope
from einderive.ta.listing import beside

FEWEST_STATES = 250
EFFORTS = (2.0, 3.0, 4.0, 5.0, 6.0)
THROUGHPUT_FACTOR = 25
"""The throughput is taken from a search this many times as large as the largest other one."""
CANDIDATES = 32


@dataclass(frozen=True, slots=True)
class Published:
    """The needs of the reference system [EinNet, OSDI'23; its C++ search with general rules, built
    with -O2 and run on two cores like those of docs/measurements/cpu.md].

    They are the seconds to the first depth that finds its result, seconds and states of the whole
    search to depth 7, peak memory in megabytes, and states and seconds without removing duplicates
    (None: not run to the end).
    """

    depth: int
    seconds_to_result: float
    seconds: float
    states: str
    megabytes: int
    states_with_duplicates: str
    seconds_with_duplicates: float | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A case, the program that the reference derives for it, and what it needs."""

    case: Case
    derived: str
    published: Published

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Self:
        """The case of an entry of `run.toml`."""
        derived = one_line(entry["derived"])
        return cls(Case.read(entry), derived, Published(**entry["published"]))


CASES = {int(number): Reference.read(entry) for number, entry in beside(__name__).items()}

WAYS: dict[str, Budget] = {
    "as it is": Budget(),
    "no convergence": Budget(converging_effort=EXPLORING_EFFORT),
    "duplicates kept": Budget(keep_duplicates=True),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One search: seconds of exploring and of choosing programs, distinct scopes, scopes expanded,
    seconds of the best candidate as predicted, and those over the reference's program's; `found`
    says how the reference's program was reached."""

    seconds: float
    states: int
    expanded: int
    best: float
    ratio: float
    found: str


def budgets(states: int) -> Iterator[Budget]:
    """Growing states at the default effort, then growing effort at the most states."""
    count = min(FEWEST_STATES, states)
    while count < states:
        yield Budget(states=count)
        count *= 2
    yield Budget(states=states)
    for effort in EFFORTS:
        if effort != Budget().effort:
            yield Budget(states=states, effort=effort)


def run(
    reference: Reference, machine: Machine, budget: Budget, watch: Watch | None = None
) -> Outcome:
    """Search one case within the budget."""
    case = reference.case
    hand = unchanged(*_graph(case, reference.derived, machine))
    graph, roots = _graph(case, case.text, machine)
    with no_collection():
        started = time.perf_counter()
        expanded = explore(graph, roots, budget, watch)
        candidates = plans(graph, roots, CANDIDATES)
        seconds = time.perf_counter() - started
    best = candidates[0].seconds
    found = "no"
    if best <= hand.seconds * 1.001:
        found = "as cheap"
    if _labour(hand) in [_labour(plan) for plan in candidates]:
        found = "yes"
    return Outcome(seconds, len(graph.stages), expanded, best, best / hand.seconds, found)


def _graph(case: Case, text: str, machine: Machine) -> tuple[Graph, tuple[Scope, ...]]:
    """A graph for the program that is `text` on the case's tensors, and its roots."""
    roots = parse(text, ranges=case.ranges, **cast(Any, case.shapes)).roots()
    return Graph(LAWLESS, OPERATORS, machine, default_item_bytes(roots)), roots


def _labour(plan: Plan) -> Counter[object]:
    """Each stage's operator and the extents of its loops and sums, views and ones left out."""
    return Counter(
        (stage.operator, _extents(stage.scope.loops), _extents(stage.scope.sums))
        for stage in plan.stages
        if stage.operator != "view"
    )


def _extents(ranges: Sequence[Range]) -> tuple[int, ...]:
    return tuple(sorted(r.extent for r in ranges if r.extent > 1))


def bench_case(number: int, states: int, machine: Machine, rows: Rows) -> None:
    """The table of one case."""
    reference = CASES[number]
    published = reference.published
    rows.say(f"case {number}: {reference.case.name}   {reference.case.text}")
    line = "{:<16}  {:>6}  {:>6}  {:>8}  {:>8}  {:>8}  {:>12}  {:>13}  {}"
    heads = ("way", "limit", "effort", "seconds", "states", "expanded", "best us", "/ reference")
    rows.say(line.format(*heads, "found"))
    for way, base in WAYS.items():
        for budget in budgets(states):
            chosen = replace(base, states=budget.states, effort=budget.effort)
            task = f"case {number}, {way}: {chosen.states} states, effort {chosen.effort}"
            rows.progress.write(task)
            outcome = run(reference, machine, chosen, rows.watch)
            cells = (
                way,
                chosen.states,
                f"{chosen.effort:g}",
                f"{outcome.seconds:.3f}",
                outcome.states,
                outcome.expanded,
                f"{outcome.best * 1e6:.1f}",
                f"{outcome.ratio:.3f}",
                outcome.found,
            )
            limits = {"case": number, "way": way, "limit": chosen.states, "effort": chosen.effort}
            rows.add(line.format(*cells), limits | plain(outcome))
    kept = published.seconds_with_duplicates
    rows.say(
        f"reference, published rules in C++: found at depth {published.depth} after "
        f"{published.seconds_to_result:g} s; depth 7: {published.seconds:g} s, "
        f"{published.states} states, {published.megabytes} MB; duplicates kept: "
        f"{'not ended' if kept is None else f'{kept:g} s'}, "
        f"{published.states_with_duplicates} states"
    )
    rows.say(f"peak memory of this process: {peak_bytes() >> 20} MB")


def bench_throughput(states: int, machine: Machine, rows: Rows) -> None:
    """The states per second of one large search of the first case, gathering of candidates
    left out."""
    case = CASES[1].case
    graph, roots = _graph(case, case.text, machine)
    before = peak_bytes() >> 20
    with no_collection():
        started = time.perf_counter()
        budget = Budget(states=states, effort=2 * Budget().effort)
        expanded = explore(graph, roots, budget, rows.watch)
        seconds = time.perf_counter() - started
    count, peak = len(graph.stages), peak_bytes() >> 20
    rows.add(
        f"throughput ({_core()}), {case.name}: {count} distinct states (distance and "
        f"cost included), {expanded} expanded, {seconds:.2f} s, {count / seconds:.0f} "
        f"states/s, peak {peak} MB ({before} MB before)",
        {"states": count, "expanded": expanded, "seconds": seconds, "peak_megabytes": peak},
    )


def _core() -> str:
    """Whether the modules that take most of the time run as Python or compiled by mypyc."""
    compiled = affine.__file__.endswith((".so", ".pyd"))
    return "core compiled" if compiled else "plain Python"


def bench_search(
    case: int | None, states: int, target: str, out: Rows, throughput: bool = False
) -> int:
    """One case here, or every case in a process of its own, so that memory is told apart, and the
    throughput after them; or that alone."""
    machine = MACHINES[target_of(target)]
    if case is not None and case not in CASES:
        known = ", ".join(map(str, CASES))
        raise NameUnknownError(f"there is no case {case}", next_step=f"choose one of {known}")
    if case is not None:
        bench_case(case, states, machine, out)
        return 0
    if not throughput:
        out.say(f"target {machine.name}, predicted costs; at most {states} states")
        for number in CASES:
            command = [sys.executable, "-m", "einderive.frontend.cli.main", "bench", "search"]
            command += ["--case", str(number), "--states", str(states), "--target", target]
            if returncode := out.add_from(command):
                return returncode
            out.say()
    bench_throughput(THROUGHPUT_FACTOR * states, machine, out)
    return 0
