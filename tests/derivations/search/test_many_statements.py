"""Programs of many statements: derived in time that grows with their length, and rightly."""

from __future__ import annotations

import signal
from functools import cache

import pytest

import einderive as ed
from einderive.derivations.matching.cost import H100
from einderive.derivations.rules import LAWLESS
from einderive.derivations.search.choice import choices
from einderive.derivations.search.explore import explore
from einderive.derivations.search.extract import NOT_TRIED, plans, unchanged
from einderive.derivations.search.folding import Folding
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.replay import Heights, replace_step, replay
from einderive.derivations.search.strategy import Budget
from einderive.derivations.search.variants import Variants
from einderive.derivations.steps.fuse import Fuse
from einderive.derivations.steps.kernel import Step
from einderive.eops.library import OPERATORS
from einderive.ta.ir import expr
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import accesses as reads_of
from einderive.ta.ir.subst import rebuild, replace_node, stages
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show
from tests.amount import CAMPAIGN, first, one_in, sampled
from tests.derivations.many_statements import LONG
from tests.derivations.small import FORMULAS, LIBRARY, roots
from tests.oracle import equal
from tests.work import at_most

MOST_CALLS = 100_000_000


@cache
def derived(name: str) -> ed.Derivation:
    text, shapes = LONG[name]
    return ed.derive(parse(text, shapes), target="cuda:90")


@pytest.mark.parametrize("name", first(1, sorted(LONG, key="40 layers".__ne__)))
def test_a_long_program_is_derived_with_little_work(name: str) -> None:
    text, shapes = LONG[name]
    with at_most(MOST_CALLS):
        ed.derive(parse(text, shapes), target="cuda:90")


QUICK = ("20 reads beyond the border", "3 blocks with softmax")


@pytest.mark.parametrize("name", first(2, sorted(LONG, key=QUICK.__contains__, reverse=True)))
def test_a_long_program_gets_no_slower(name: str) -> None:
    found = derived(name)
    assert found.candidates[0].seconds <= found.unchanged.seconds


def test_the_steps_of_a_long_derivation_hold() -> None:
    report = derived("3 blocks with softmax").check()
    assert report, str(report)


def test_what_is_found_for_many_reads_beyond_the_border_is_the_formula() -> None:
    found = derived("20 reads beyond the border")
    for plan in found.candidates:
        assert equal(found.source.roots()[0], plan.roots[0]) is None


def test_every_block_gets_its_operator() -> None:
    best = derived("3 blocks with softmax").candidates[0]
    names = [stage.operator for stage in best.stages]
    assert names.count("softmax") + names.count("attention") == 3


@CAMPAIGN
def test_what_is_left_out_is_counted() -> None:
    assert derived("6 blocks with softmax").stats.pruned[NOT_TRIED] > 0


def explored(given: tuple[Scope, ...], states: int = 300) -> Graph:
    graph = Graph(LAWLESS, OPERATORS, LIBRARY)
    explore(graph, given, Budget(states=states))
    return graph


def one_by_one(given: tuple[Scope, ...], steps: tuple[Step, ...]) -> tuple[Scope, ...]:
    for step in steps:
        assert step.before in stages(*given)
        given = replace_step(given, step)
    return given


@pytest.mark.parametrize("name", one_in(2, FORMULAS))
def test_steps_applied_together_are_those_applied_one_after_another(name: str) -> None:
    given = roots(name)
    graph, heights = explored(given), Heights()
    folding = Folding(graph)
    variants = Variants(graph, given, choices(graph, given), heights)
    changed = 0
    for variant in list(variants)[:200]:
        after, applied = replay(given, variants.steps(variant), heights)
        assert one_by_one(given, applied) == after
        folded, folds = folding.fold(after)
        assert one_by_one(after, tuple(folds)) == folded
        assert folding.fold(folded) == (folded, [])
        changed += after != given
    assert changed


@sampled(4)
@pytest.mark.parametrize("name", one_in(2, FORMULAS))
@pytest.mark.parametrize("padding_free", [True, False])
def test_no_choice_can_be_improved(name: str, padding_free: bool) -> None:
    """A fixed point: neither as one stage nor by a step is a scope cheaper than its choice."""
    given = roots(name)
    graph = explored(given)
    best = choices(graph, given, padding_free=padding_free)
    assert set(given) <= set(best)
    stepped = 0
    for scope, choice in best.items():
        stage = graph.stages[scope]
        direct = stage.seconds + sum(best[read].seconds for read in stage.reads)
        assert choice.seconds <= direct * (1 + 1e-8)
        for step in graph.edges.get(scope, ()):
            assert choice.seconds <= best[step.after].seconds * (1 + 1e-8), show(scope)
        if choice.step is not None:
            assert choice.step in graph.edges[scope]
            stepped += 1
    assert stepped or all(not steps for steps in graph.edges.values())


def test_a_step_that_brings_back_what_was_replaced() -> None:
    """The step at the root reads the inner scope again, which was replaced before: there it
    stays."""
    shapes = {"X": (8,)}
    inner = parse("Y[i] = exp(X[i])", shapes).roots()[0]
    outer = parse("E[i] = exp(X[i]); T[i] = tanh(E[i]); Y[i] = T[i]*X[i]", shapes).roots()[0]
    again = parse("E[i] = exp(X[i]); T[i] = exp(2*E[i]); Y[i] = T[i] + E[i]", shapes).roots()[0]
    flat = parse("Y[i] = sigmoid(X[i])", shapes).roots()[0]
    middle = next(s for s in stages(outer) if s not in (inner, outer))
    steps = [Step("first", inner, flat, Fuse()), Step("second", flat, again, Fuse())]
    after, applied = replay((outer,), steps, Heights())
    assert one_by_one((outer,), applied) == after
    assert middle not in stages(*after)
    assert inner in stages(*after)


def test_a_shared_sub_term_is_rebuilt_once() -> None:
    """Written out, the expression is of some 2^60 reads."""
    scope = parse("Y[i] = exp(A[i]) + B[i]", {"A": (4,), "B": (4,)}).roots()[0]
    first, second = reads_of(scope.body)

    def doubled(node: Node) -> Node:
        for _ in range(60):
            node = expr.add(expr.mul(node, node), expr.apply("exp", node))
        return node

    assert replace_node(doubled(first), first, second) is doubled(second)
    assert rebuild(doubled(first), lambda access: access) is doubled(first)
    assert replace_node(doubled(first), second, first) is doubled(first)


def test_an_interruption_while_programs_are_put_together() -> None:
    """The signal comes when exploration is over; few questions later the best so far is there."""
    text, shapes = LONG["3 blocks with softmax"]
    asked = 0

    def interrupt(so_far: ed.Progress) -> None:
        nonlocal asked
        if so_far.waiting == 0:
            asked += 1
            if asked == 2:
                signal.raise_signal(signal.SIGINT)

    program = parse(text, shapes)
    found = ed.derive(program, target="cuda:90", budget=ed.Budget(states=2000), progress=interrupt)
    assert found.stats.stopped == "interrupted"
    assert asked == 2
    assert found.candidates[0].seconds < found.unchanged.seconds
    assert found.check()


def test_an_interruption_before_the_first_program_leaves_the_given_one() -> None:
    given = parse(*LONG["40 layers"]).roots()
    graph = Graph(LAWLESS, OPERATORS, H100)
    explore(graph, given, Budget(states=50))

    def interrupt() -> None:
        raise KeyboardInterrupt

    assert plans(graph, given, check=interrupt) == (unchanged(graph, given),)
    assert graph.stopped == "interrupted"


@pytest.mark.campaign
def test_without_time_one_program_for_each_choice_is_put_together() -> None:
    given = parse(*LONG["3 blocks with softmax"]).roots()
    graph = Graph(LAWLESS, OPERATORS, H100)
    explore(graph, given, Budget(states=400))
    asked = 0

    def count() -> None:
        nonlocal asked
        asked += 1

    found = plans(graph, given, check=count, seconds=0)
    assert graph.pruned[NOT_TRIED] > 0
    assert 0 < asked < 20
    assert found[0].seconds < unchanged(graph, given).seconds
