"""The show-cases beyond the reference's, and variants: found by the default budget, checked, and no
costlier than the best program that one writes by hand."""

from __future__ import annotations

import pytest

import einderive as ed
from tests.amount import sampled
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS
from tests.showcases.found import (
    assert_as_good_as_by_hand,
    assert_equivalent,
    derived,
    names_and_budgets,
)

FURTHER = {**ALGEBRA, **LAYERS}


@sampled(4)
@pytest.mark.parametrize(("name", "budget"), names_and_budgets(FURTHER))
def test_found_and_checked(name: str, budget: ed.Budget | None) -> None:
    case = FURTHER[name]
    derivation = derived(case, budget)
    assert_as_good_as_by_hand(case, derivation)
    assert derivation.check(0), str(derivation.check(0))


@sampled(4)
@pytest.mark.parametrize("name", FURTHER)
def test_equal_to_the_program_by_hand(name: str) -> None:
    assert_equivalent(FURTHER[name])


def test_every_case_is_written_down() -> None:
    numbers = {int(name.split()[0]) for name in FURTHER}
    assert numbers == set(range(11, 31))
