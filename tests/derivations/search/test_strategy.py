"""Any strategy gives equal programs that check: it decides what is found, not what is right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from einderive.derivations.record.trace_stages import claim_of
from einderive.derivations.record.verify import check
from einderive.derivations.rules import LAWLESS
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.run import SearchResult, search
from einderive.derivations.search.strategy import Budget, Expansion, Strategy
from einderive.eops.library import OPERATORS
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from tests.derivations.small import LIBRARY, roots
from tests.oracle import equal

NAMES = ("strided convolution", "product of three", "softmax")
BUDGET = Budget(states=60)


def breadth_first(graph: Graph, roots: tuple[Scope, ...], budget: Budget) -> Iterator[Expansion]:
    """Every scope in the order in which it came up, whatever it costs."""
    waiting = list(stages(*roots))
    for number, scope in enumerate(waiting):
        yield Expansion(number, len(waiting) - number, len(graph.stages))
        for step in graph.expand(scope):
            for new in stages(step.after):
                graph.stage(new)
                if new not in waiting:
                    waiting.append(new)


def nothing(graph: Graph, roots: tuple[Scope, ...], budget: Budget) -> Iterator[Expansion]:
    """No scope at all."""
    return iter(())


def found_by(strategy: Strategy, name: str, budget: Budget = BUDGET) -> SearchResult:
    return search(roots(name), LAWLESS, OPERATORS, LIBRARY, budget, strategy=strategy)


@pytest.mark.parametrize("name", NAMES)
def test_another_strategy_finds_programs_that_check(name: str) -> None:
    given = roots(name)
    found = found_by(breadth_first, name)
    assert found.statistics.expanded > 2
    assert found.plans[0].seconds <= found.unchanged.seconds
    assert any(plan.steps for plan in found.plans)
    for plan in found.plans[:3]:
        claims = [claim_of(stage, OPERATORS) for stage in plan.stages]
        assert check(given, plan.steps, plan.roots, claims), plan
        if (
            name != "softmax"
        ):  # its programs use functions, which the checker knows and this does not
            assert all(equal(a, b) is None for a, b in zip(given, plan.roots, strict=True))


def test_strategies_explore_in_different_orders() -> None:
    best = search(roots(NAMES[0]), LAWLESS, OPERATORS, LIBRARY, BUDGET)
    other = found_by(breadth_first, NAMES[0])
    assert best.statistics.stopped == other.statistics.stopped == "budget of states used up"
    assert best.statistics.steps != other.statistics.steps


def test_a_strategy_that_expands_nothing_leaves_the_program_as_it_is() -> None:
    found = found_by(nothing, NAMES[0])
    assert [plan.steps for plan in found.plans] == [()]
    assert (found.statistics.expanded, found.statistics.stopped) == (0, "space exhausted")


def test_the_budget_ends_any_strategy() -> None:
    for budget, stopped in (
        (Budget(states=1), "budget of states used up"),
        (Budget(seconds=0.0), "budget of seconds used up"),
    ):
        found = found_by(breadth_first, NAMES[0], budget)
        assert (found.statistics.expanded, found.statistics.stopped) == (0, stopped)
