"""Whether a show-case is found: by predicted seconds, by its steps, and by exact evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import Stage
from einderive.eops.library.reduction import REDUCTION
from einderive.ta.ir.operator import Binding
from tests.amount import first, one_of_each_number
from tests.showcases.cases import Case

TARGET = "cuda:90"
FEW = ed.Budget(states=1000)
"""A third of the default budget, in which all are found but these."""
LATE = (
    "6 transposed conv 4x4, stride 2, as matmul and gathered sum",
    "25 grouped convolution as batched matmul",
)


def names_and_budgets(cases: Iterable[str]) -> list[Any]:
    """One case of each number every time, all of them with the default budget in campaigns."""
    chosen = [one.values[0] for one in one_of_each_number(cases) if not one.marks]
    some = [(name, None if name in LATE else FEW) for name in chosen]
    return first(len(some), [*some, *((name, None) for name in cases if name not in LATE)])


def derived(case: Case, budget: ed.Budget | None = None) -> ed.Derivation:
    """The derivation of the case's formula at its sizes of use."""
    text, shapes = case.problem(case.formula, case.sizes)
    return ed.derive(
        text,
        target=TARGET,
        budget=budget or ed.Budget(),
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
    """Each stage's operator and the extents of its loops and sums, views and ones left out.  What
    reduces one tensor is a reduction, whether the library or a kernel does it."""

    def extents(ranges: object) -> tuple[int, ...]:
        return tuple(sorted(r.extent for r in ranges if r.extent > 1))

    def word(stage: Stage) -> str | None:
        reduces = isinstance(REDUCTION.recognise(stage.scope), Binding)
        return REDUCTION.name if reduces else stage.operator

    return Counter(
        (word(stage), extents(stage.scope.loops), extents(stage.scope.sums))
        for stage in plan.stages
        if stage.operator != "view"
    )


def assert_as_good_as_by_hand(case: Case, derivation: ed.Derivation) -> None:
    """The best candidate costs no more than the hand-written program; where the case says so, the
    candidates hold that program itself."""
    hand = by_hand(case)
    best = derivation.candidates[0]
    assert best.seconds <= hand.seconds * case.within, [s.operator for s in best.stages]
    if case.listed:
        assert labour(hand) in [labour(plan) for plan in derivation.candidates]


def assert_equivalent(case: Case) -> None:
    """The formula and the hand-written program agree at every position, at the small sizes."""
    text, shapes = case.problem(case.formula, case.small)
    hand, _ = case.problem(case.hand, case.small)
    verdict = ed.equivalent(text, hand, **shapes)
    assert verdict, str(verdict)
