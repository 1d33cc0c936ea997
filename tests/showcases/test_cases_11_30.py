"""The show-cases beyond the reference's, and variants: found by the default budget, checked, and no
costlier than the best program that one writes by hand."""

from __future__ import annotations

import pytest

from tests.showcases.cases_11_30 import FURTHER, NOT_YET
from tests.showcases.found import assert_as_good_as_by_hand, assert_equivalent, derived


@pytest.mark.parametrize("name", FURTHER)
def test_found_and_checked(name: str) -> None:
    case = FURTHER[name]
    derivation = derived(case)
    assert_as_good_as_by_hand(case, derivation)
    assert derivation.check(0), str(derivation.check(0))


@pytest.mark.parametrize("name", [*FURTHER, *NOT_YET])
def test_equal_to_the_program_by_hand(name: str) -> None:
    case = FURTHER[name] if name in FURTHER else NOT_YET[name][1]
    assert_equivalent(case)


def test_every_case_is_written_down() -> None:
    numbers = {int(name.split()[0]) for name in (*FURTHER, *NOT_YET)}
    assert numbers == set(range(11, 31))
