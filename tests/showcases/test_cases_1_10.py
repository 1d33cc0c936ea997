"""The reference's ten cases and variants: found by one default budget, checked, and ranked at least
as well as the reference derived them."""

from __future__ import annotations

from math import prod

import pytest

import einderive as ed
from einderive.derivations.search.extract import Plan
from tests.amount import first, sampled
from tests.showcases.cases import REFERENCE
from tests.showcases.found import (
    assert_as_good_as_by_hand,
    assert_equivalent,
    derived,
    names_and_budgets,
)

DOUBLED = ed.Budget(states=2 * ed.Budget().states, effort=2 * ed.Budget().effort)
IM2COL = [name for name in REFERENCE if name.startswith("10 ")]


@sampled(4)
@pytest.mark.parametrize(("name", "budget"), names_and_budgets(REFERENCE))
def test_found_and_checked(name: str, budget: ed.Budget | None) -> None:
    case = REFERENCE[name]
    derivation = derived(case, budget)
    assert_as_good_as_by_hand(case, derivation)
    assert derivation.check(0), str(derivation.check(0))
    if name in IM2COL:
        (formula,) = derivation.source.roots()
        terms = prod(side.extent for side in formula.sums)
        assert any(_is_im2col(plan, terms) for plan in derivation.candidates)


@sampled(2)
@pytest.mark.parametrize("name", REFERENCE)
def test_equal_to_the_program_by_hand(name: str) -> None:
    assert_equivalent(REFERENCE[name])


@pytest.mark.parametrize("name", first(1, sorted(REFERENCE, key=len)))
def test_still_found_when_depth_and_budget_are_doubled(name: str) -> None:
    case = REFERENCE[name]
    assert_as_good_as_by_hand(case, derived(case, DOUBLED))


def test_every_case_has_two_variants() -> None:
    numbers = [name.split()[0] for name in REFERENCE]
    assert all(numbers.count(str(case)) >= 3 for case in range(1, 11))


def _is_im2col(plan: Plan, terms: int) -> bool:
    """One matmul over all taps and channels; whatever else there is does not sum."""
    summing = [stage for stage in plan.stages if stage.scope.sums]
    return (
        len(summing) == 1
        and summing[0].operator == "matmul"
        and terms == prod(r.extent for r in summing[0].scope.sums)
    )
