"""Whether a show-case is found: by predicted seconds, by its steps, and by exact evaluation."""

from __future__ import annotations

from collections import Counter

import einderive as ed
from einderive.derivations.search.extract import Plan
from tests.showcases.cases import Case

TARGET = "cuda:90"
TOLERANCE = 1.001


def derived(case: Case, budget: ed.Budget | None = None) -> ed.Derivation:
    """The derivation of the case's formula at its sizes of use."""
    text, shapes = case.problem(case.formula, case.sizes)
    return ed.derive(
        text,
        target=TARGET,
        budget=budget,
        weights=case.weights,
        accuracy=case.accuracy,
        **shapes,
    )


def by_hand(case: Case) -> Plan:
    """The hand-written program, its statements as stages, without any search."""
    text, shapes = case.problem(case.hand, case.sizes)
    none = ed.Budget(states=1)
    return ed.derive(text, target=TARGET, budget=none, weights=case.weights, **shapes).unchanged


def labour(plan: Plan) -> Counter[object]:
    """Each stage's operator and the extents of its loops and sums, views and ones left out."""

    def extents(ranges: object) -> tuple[int, ...]:
        return tuple(sorted(r.extent for r in ranges if r.extent > 1))

    return Counter(
        (stage.operator, extents(stage.scope.loops), extents(stage.scope.sums))
        for stage in plan.stages
        if stage.operator != "view"
    )


def assert_as_good_as_by_hand(case: Case, derivation: ed.Derivation) -> None:
    """The best candidate costs no more than the hand-written program; where the case says so, the
    candidates hold that program itself."""
    hand = by_hand(case)
    best = derivation.candidates[0]
    assert best.seconds <= hand.seconds * TOLERANCE, [s.operator for s in best.stages]
    if case.listed:
        assert labour(hand) in [labour(plan) for plan in derivation.candidates]


def assert_equivalent(case: Case) -> None:
    """The formula and the hand-written program agree at every position, at the small sizes."""
    text, shapes = case.problem(case.formula, case.small)
    hand, _ = case.problem(case.hand, case.small)
    verdict = ed.equivalent(text, hand, **shapes)
    assert verdict, str(verdict)
