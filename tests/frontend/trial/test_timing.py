"""Races and what counts as faster, on times that are given."""

from __future__ import annotations

import pytest

from einderive.frontend.timed import timing
from einderive.frontend.timed.timing import Timing, batch, first, race, summary


def test_a_difference_within_the_noise_is_no_win() -> None:
    slow = summary([10.0, 11.0, 9.0, 10.0, 12.0, 8.0, 10.0, 11.0])
    near = summary([9.0, 12.0, 10.0, 9.0, 13.0, 9.5, 9.6, 12.0])
    fast = summary([5.0, 6.0, 5.0, 5.0, 7.0, 9.0, 5.0, 5.0])
    assert near.seconds <= slow.seconds
    assert not near.beats(slow, 0.99)
    assert fast.beats(slow, 0.97)
    assert not slow.beats(fast, 0.97)


def test_a_small_but_constant_difference_is_a_win_beyond_the_margin_only() -> None:
    base = Timing(1.0, 0.0, (1.0,) * 9)
    assert Timing(0.9, 0.0, (0.9,) * 9).beats(base, 0.97)
    assert not Timing(0.98, 0.0, (0.98,) * 9).beats(base, 0.97)


def test_median_and_spread() -> None:
    found = summary([1.0, 2.0, 3.0, 4.0, 100.0])
    assert (found.seconds, found.spread) == (3.0, 1.0)
    assert summary([2.0]).seconds == 2.0


def test_short_calls_are_timed_in_batches() -> None:
    assert batch(1e-6) == 100
    assert batch(2e-5) == 5
    assert batch(1.0) == 1


@pytest.mark.parametrize(
    ("seconds", "runs"), [([8e-3, 7e-3, 1e-5, 1e-5, 1e-5], 5), ([0.02, 0.02], 2), ([0.5], 1)]
)
def test_two_calls_that_waited_for_a_processor_are_not_believed(
    seconds: list[float], runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = iter(seconds)
    monkeypatch.setattr(timing, "timed", lambda *_: next(given))
    assert first(lambda: None, False) == min(seconds[:runs])
    assert next(given, None) is None


def test_a_call_that_is_known_to_be_long_is_run_in_the_rounds_alone() -> None:
    counts = [0, 0]

    def run(number: int) -> None:
        counts[number] += 1

    calls = [lambda: run(0), lambda: run(1)]
    race(calls, known=[1.0, 0.0], most=3, sample=1e-9)
    assert counts == [3, 7]  # once to find out, then twice a round: a brief one follows itself


def test_long_runs_race_in_fewer_rounds() -> None:
    counts = [0, 0]

    def run(number: int) -> None:
        counts[number] += 1

    race([lambda: run(0), lambda: run(1)], known=[1.0, 1.0], seconds=0.0)
    assert counts == [2, 2]


def test_all_rivals_run_in_every_round_that_they_are_in() -> None:
    counts = [0, 0]

    def run(number: int) -> None:
        counts[number] += 1

    found = race([lambda: run(0), lambda: run(1)], seconds=0.0)
    assert [len(timing.samples) for timing in found] == [3, 3]
    assert min(counts) > 3
