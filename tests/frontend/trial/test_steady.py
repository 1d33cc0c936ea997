"""Programs within noise of each other: the same one is chosen, whatever the noise."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from einderive.frontend.timed.steady import Merits, Standing, in_order, merits
from einderive.frontend.timed.timing import Timing
from einderive.frontend.timed.trial import Trial
from tests.frontend.derived import DISTANCES, derived


def timing(seconds: float, noise: float = 0.0) -> Timing:
    """Eight rounds that differ by the noise, upwards and downwards in turn."""
    samples = tuple(seconds * (1 + noise * (-1) ** round_) for round_ in range(8))
    return Timing(seconds, noise * seconds, samples)


def order(*standings: tuple[Timing, tuple[Any, ...]]) -> list[int]:
    return in_order([Standing(*each) for each in standings])


def test_times_decide_beyond_noise() -> None:
    found = order((timing(2.0), (0,)), (timing(1.0), (9,)), (timing(1.5), (5,)))
    assert found == [1, 2, 0]


def test_merits_decide_within_noise() -> None:
    assert order((timing(1.00), (2,)), (timing(1.01), (1,)), (timing(1.02), (0,))) == [2, 1, 0]
    assert order((timing(1.00), (1,)), (timing(1.04), (0,))) == [0, 1]


def test_rounds_that_contradict_the_medians_are_noise() -> None:
    one = Timing(1.00, 0.1, (1.0, 1.1, 1.0, 1.2))
    other = Timing(1.04, 0.1, (1.1, 1.0, 0.9, 1.3))
    assert order((one, (1,)), (other, (0,))) == [1, 0]
    far = Timing(1.2, 0.1, other.samples)
    assert order((one, (1,)), (far, (0,))) == [0, 1]


def test_two_noisy_races_give_one_order() -> None:
    """The three programs are as fast as each other, whichever of them was the luckiest."""
    wanted = (0, 1, 2)
    for seconds in permutations((1.000, 1.012, 1.025)):
        assert order(*((timing(s, 0.02), (n,)) for n, s in enumerate(seconds))) == [*wanted]


def test_those_behind_are_ordered_among_themselves() -> None:
    found = order((timing(1.51), (0,)), (timing(1.5), (3,)), (timing(1.0), (9,)))
    assert found == [2, 0, 1]


@pytest.mark.parametrize("seconds", [(), (1.0,)])
def test_few_programs(seconds: tuple[float, ...]) -> None:
    assert order(*((timing(s), ()) for s in seconds)) == [*range(len(seconds))]


def trial(number: int, error: float, label: str = "candidate") -> Trial:
    plan = derived(DISTANCES, A=(48, 40), B=(44, 40)).candidates[number]
    return Trial(label, plan, ("matmul",), 1.0, error, "accepted")


def test_what_may_lose_digits_comes_behind_what_loses_none() -> None:
    candidates = derived(DISTANCES, A=(48, 40), B=(44, 40)).candidates
    cancels = next(n for n in range(len(candidates)) if trial(n, 1e-7).cancelling)
    may, same = merits(trial(cancels, 1e-7), 1e-7), merits(trial(cancels, 1e-7), 1e-7)
    assert may == same
    plain = replace(trial(cancels, 1e-7), plan=replace(candidates[cancels], steps=()))
    assert merits(plain, 1e-7) < may
    assert merits(plain, 1e-7).lost == 0
    assert merits(replace(plain, error=1e-6), 1e-7).lost == 2  # half digits


def test_lost_digits_then_stages_then_text() -> None:
    assert Merits(0, 9, "z") < Merits(1, 1, "a")
    assert Merits(0, 1, "z") < Merits(0, 2, "a")
    assert Merits(0, 1, "a") < Merits(0, 1, "b")
