"""The search: equal programs only, the same ones every time, within its budget."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from einderive.derivations.matching.cost import CPU, H100
from einderive.derivations.record.verify import check
from einderive.derivations.rule import Rule
from einderive.derivations.rules import LAWLESS, RULES
from einderive.derivations.search.explore import explore
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.progress import Progress
from einderive.derivations.search.run import SearchResult, search
from einderive.derivations.search.strategy import Budget
from einderive.derivations.steps.kernel import Witness
from einderive.eops.library import OPERATORS
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show
from tests.amount import one_in, sampled
from tests.derivations.sameness import same
from tests.derivations.seeds import MOST_POINTS, points
from tests.derivations.small import FORMULAS, LIBRARY, MACHINES, roots, searched
from tests.oracle import equal

EVERY_FORMULA = pytest.mark.parametrize("name", one_in(2, FORMULAS))
PROJECT = Path(__file__).parents[3]
LARGE = "padded convolution"
BUDGET = Budget(states=300)


def text_of(result: SearchResult) -> str:
    """Everything a search decides, as text: programs, steps, predicted seconds, statistics."""
    lines = [f"{result.statistics.states} {result.statistics.expanded} {result.statistics.steps}"]
    lines += [f"{reason} {count}" for reason, count in result.statistics.pruned.items()]
    for plan in result.plans:
        lines.append(f"{plan.seconds!r}: " + " | ".join(map(show, plan.roots)))
        lines += [f"  {s.rule} {s.witness} {show(s.before)} -> {show(s.after)}" for s in plan.steps]
        lines += [f"  {stage.operator} {stage.seconds!r}" for stage in plan.stages]
    return "\n".join(lines)


def fresh(name: str, budget: Budget = BUDGET, **options: object) -> SearchResult:
    return search(roots(name), RULES, OPERATORS, LIBRARY, budget, **options)  # type: ignore[arg-type]  # options of search


def test_a_search_leaves_no_cycles_behind() -> None:
    """It runs without the cyclic garbage collector, which then has nothing to do; functions that
    call each other, made at each rebuilding, were tens of objects a state."""
    fresh(LARGE, Budget(states=60))
    enabled = gc.isenabled()
    gc.disable()
    try:
        gc.freeze()  # what there is already need not be gone over
        fresh(LARGE, Budget(states=60))
        assert gc.collect() < 100
    finally:
        if enabled:
            gc.enable()


@EVERY_FORMULA
@pytest.mark.parametrize("machine", MACHINES)
def test_every_plan_is_the_formula(name: str, machine: str) -> None:
    result = searched(name, machine)
    given = roots(name)
    assert result.plans
    assert result.unchanged.roots == given
    for plan in result.plans:
        for root, found in zip(given, plan.roots, strict=True):
            assert equal(root, found) is None, show(found)


@sampled(4)
@EVERY_FORMULA
def test_every_step_of_the_graph_is_an_equality(name: str) -> None:
    graph = Graph(RULES, OPERATORS, LIBRARY)
    explore(graph, roots(name), Budget(states=300))
    steps = [step for steps in graph.edges.values() for step in steps]
    small = [step for step in steps if points(step.after) <= MOST_POINTS]
    assert len(small) >= 5
    for step in small[:: max(1, len(small) // 60)]:
        assert same(step.before, step.after, [step.rule])


def test_the_formulas_reach_most_rules() -> None:
    used = {
        step.rule
        for name in FORMULAS
        for machine in MACHINES
        for plan in searched(name, machine).plans
        for step in plan.steps
    }
    assert len(used) >= 8, used


@EVERY_FORMULA
def test_plans_are_distinct_and_the_cheapest_is_first(name: str) -> None:
    plans = searched(name).plans
    kernels = {(plan.roots, tuple(stage.operator for stage in plan.stages)) for plan in plans}
    assert len(kernels) == len(plans)
    assert plans[0].seconds == min(plan.seconds for plan in plans)
    assert plans[0].seconds <= searched(name).unchanged.seconds
    for plan in plans:
        assert plan.seconds == pytest.approx(sum(stage.seconds for stage in plan.stages))


def test_most_bounds_the_number_of_plans() -> None:
    assert len(fresh("transposed convolution", most=3).plans) == 3


@pytest.mark.parametrize("name", ["box filter", "band matmul", LARGE])
def test_a_search_repeats_itself(name: str) -> None:
    assert text_of(fresh(name)) == text_of(fresh(name))


def test_the_hash_seed_of_the_process_does_not_matter() -> None:
    names = ["low rank"]
    code = (
        "from tests.derivations.search.test_search import fresh, text_of\n"
        f"print('\\n'.join(text_of(fresh(name)) for name in {names!r}))"
    )
    here = "\n".join(text_of(fresh(name)) for name in names)
    environment = dict(os.environ, PYTHONHASHSEED="4321", PYTHONPATH=str(PROJECT))
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        env=environment,
        check=True,
    )
    assert done.stdout.rstrip("\n") == here


def test_a_larger_budget_is_never_worse() -> None:
    seconds = [fresh("box filter", Budget(states=n)).plans[0].seconds for n in (1, 40, 200, 600)]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[-1] < seconds[0]


def test_a_copy_that_only_seems_free_does_not_hide_a_better_program() -> None:
    """Operands padded by a stage of their own look free, as a convolution would pad them; here a
    product reads them, and pays."""
    text = "Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-1000),k] where w in 0:2001"
    given = parse(text, {"A": (8, 10000, 64), "B": (8, 10000, 64)}).roots()
    seconds = [
        search(given, LAWLESS, OPERATORS, H100, Budget(states=n)).plans[0].seconds
        for n in (1000, 4000)
    ]
    assert seconds == sorted(seconds, reverse=True)


@pytest.mark.parametrize("states", [1, 50, 200])
def test_the_budget_of_states_is_kept(states: int) -> None:
    """It may be exceeded by the results of one expansion only."""
    result = fresh(LARGE, Budget(states=states))
    assert result.statistics.stopped == "budget of states used up"
    one_expansion = fresh(LARGE, Budget(states=2)).statistics.states
    assert states <= result.statistics.states <= states + 4 * one_expansion + 100
    assert result.plans


def test_the_budget_of_seconds_is_kept() -> None:
    result = fresh(LARGE, Budget(states=10**6, seconds=0.0))
    assert result.statistics.stopped == "budget of seconds used up"
    assert result.statistics.expanded == 0
    assert result.plans[0].roots == roots(LARGE)


def test_the_budget_of_effort_is_kept_and_reported() -> None:
    result = fresh("low rank", Budget(effort=0.5))
    assert result.statistics.stopped == "space exhausted"
    assert result.statistics.pruned["more effort than the budget allows"] > 0
    assert result.statistics.states < searched("low rank").statistics.states


def test_a_search_without_rules_gives_the_formula_back() -> None:
    result = search(roots(LARGE), (), OPERATORS, CPU, Budget())
    assert [plan.roots for plan in result.plans] == [roots(LARGE)]
    assert result.statistics.stopped == "space exhausted"


def test_an_interrupt_in_the_callback_leaves_the_best_so_far() -> None:
    calls: list[tuple[int, int]] = []

    def stop(so_far: Callable[[], Progress]) -> None:
        calls.append((so_far().expanded, so_far().waiting))
        raise KeyboardInterrupt

    result = fresh(LARGE, Budget(states=10**6), watch=stop)
    assert result.statistics.stopped == "interrupted"
    assert calls == [(result.statistics.expanded, calls[0][1])]
    for plan in result.plans:
        assert all(equal(a, b) is None for a, b in zip(roots(LARGE), plan.roots, strict=True))


@pytest.mark.parametrize("calls", [1, 2, 17])
def test_an_interrupt_inside_a_rule_leaves_the_best_so_far(calls: int) -> None:
    left = calls

    def propose(scope: Scope) -> Iterator[Witness]:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        yield from RULES[-1].propose(scope)

    impatient: Rule = replace(RULES[-1], propose=propose)
    rules = (*RULES[:-1], impatient)
    result = search(roots("box filter"), rules, OPERATORS, LIBRARY, Budget())
    assert result.statistics.stopped == "interrupted"
    assert result.plans
    for plan in result.plans:
        assert equal(roots("box filter")[0], plan.roots[0]) is None


def test_a_softmax_in_three_statements_is_one_operator() -> None:
    program = parse(
        "M[i] = max[k](X[i,k]); E[i,k] = exp(X[i,k]-M[i]); Z[i] = sum[k](E[i,k])\n"
        "Y[i,k] = E[i,k]/Z[i]",
        {"X": (64, 96)},
    )
    found = search(program.roots(), RULES, OPERATORS, CPU, Budget())
    assert [stage.operator for stage in found.plans[0].stages] == ["softmax"]
    assert check(program.roots(), found.plans[0].steps, found.plans[0].roots)
