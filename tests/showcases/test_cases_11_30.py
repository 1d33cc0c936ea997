"""The show-cases beyond the reference's, and variants: found by the default budget, checked, and no
costlier than the best program that one writes by hand."""

from __future__ import annotations

import pytest

from tests.amount import one_of_each_number
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS
from tests.showcases.found import assert_as_good_as_by_hand, assert_equivalent, derived

FURTHER = {**ALGEBRA, **LAYERS}


@pytest.mark.parametrize("name", one_of_each_number(FURTHER))
def test_found_and_checked(name: str) -> None:
    case = FURTHER[name]
    derivation = derived(case)
    assert_as_good_as_by_hand(case, derivation)
    assert derivation.check(0), str(derivation.check(0))


@pytest.mark.parametrize("name", FURTHER)
def test_equal_to_the_program_by_hand(name: str) -> None:
    assert_equivalent(FURTHER[name])


def test_every_case_is_written_down() -> None:
    numbers = {int(name.split()[0]) for name in FURTHER}
    assert numbers == set(range(11, 31))
