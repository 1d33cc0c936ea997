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
from typing import Any, cast

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
from einderive.frontend.bench.suite import Case
from einderive.frontend.report.data import plain
from einderive.ta.errors import NameUnknownError
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope

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
    search to depth 7, peak memory in megabytes, and the same without removing duplicates (None: not
    run to the end).
    """

    depth: int
    seconds_to_result: float
    seconds: float
    states: str
    megabytes: int
    seconds_with_duplicates: float | None
    states_with_duplicates: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A case, the program that the reference derives for it, and what it needs."""

    case: Case
    derived: str
    published: Published


CASES: dict[int, Reference] = {
    1: Reference(
        Case(
            "conv 3x3, 512 to 512",
            "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:7, w in 0:7",
            {"A": (1, 7, 7, 512), "K": (3, 3, 512, 512)},
        ),
        "T[n,h,w,r,s,f] = A[n,h,w,c]*K[r,s,f,c];"
        "Y[n,h,w,f] = T[n,h+r-1,w+s-1,r,s,f] where h in 0:7, w in 0:7",
        Published(4, 0.030, 2.6, "158k", 46, 118.0, "7.1M"),
    ),
    4: Reference(
        Case(
            "conv 5x5, 32 to 1",
            "Y[n,h,w,f] = A[n,h+r-2,w+s-2,c]*K[r,s,f,c] where h in 0:224, w in 0:224",
            {"A": (16, 224, 224, 32), "K": (5, 5, 1, 32)},
        ),
        "T[n,x,y,f,p,q] = A[n,x+r-2,y+s-2,c]*K[r+3*p,s+3*q,f,c]"
        " where x in 0:226, y in 0:226, r in 0:3, s in 0:3, p in 0:2, q in 0:2;"
        "Y[n,h,w,f] = T[n,h+3*p,w+3*q,f,p,q] where h in 0:224, w in 0:224",
        Published(7, 32.3, 37.0, "2.23M", 148, None, "77M"),
    ),
    6: Reference(
        Case(
            "transposed conv 4x4, stride 2, 448 to 256",
            "Y[n,h,w,f] = A[n,i,j,c]*K[h+1-2*i,w+1-2*j,f,c] where h in 0:4, w in 0:4",
            {"A": (16, 2, 2, 448), "K": (4, 4, 256, 448)},
        ),
        "T[n,i,j,r,s,f] = A[n,i,j,c]*K[r,s,f,c];"
        "Y[n,h,w,f] = T[n,i,j,h+1-2*i,w+1-2*j,f] where h in 0:4, w in 0:4",
        Published(6, 3.9, 19.4, "901k", 350, None, "64M"),
    ),
    7: Reference(
        Case(
            "band matmul, dilation 4 (G2BMM)",
            "Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-1000),k] where w in 0:2001",
            {"A": (8, 10000, 64), "B": (8, 10000, 64)},
        ),
        "T[b,p,q,t] = A[b,4*q+p,k]*B[b,4*t+p,k] where p in 0:4, q in 0:2500, t in 0:2500;"
        "Y[b,m,w] = T[b,m%4,m//4,m//4+w-1000] where m in 0:10000, w in 0:2001",
        Published(4, 0.008, 0.26, "18k", 5, 21.0, "1.27M"),
    ),
}

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
    case: int | None, states: int, target: str, rows: Rows, throughput: bool = False
) -> int:
    """One case here, or every case in a process of its own, so that memory is told apart, and the
    throughput after them; or that alone."""
    machine = MACHINES[target_of(target)]
    if case is not None and case not in CASES:
        known = ", ".join(map(str, CASES))
        raise NameUnknownError(f"there is no case {case}", next_step=f"choose one of {known}")
    if case is not None:
        bench_case(case, states, machine, rows)
        return 0
    if not throughput:
        rows.say(f"target {machine.name}, predicted costs; at most {states} states")
        for number in CASES:
            command = [sys.executable, "-m", "einderive.frontend.cli.main", "bench", "search"]
            command += ["--case", str(number), "--states", str(states), "--target", target]
            if returncode := rows.add_from(command):
                return returncode
            rows.say()
    bench_throughput(THROUGHPUT_FACTOR * states, machine, rows)
    return 0
