"""Who races: the fastest plain program does, however slow its first run was, and once more where
another one is level with it."""

from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest

from einderive.frontend.timed.timing import Timing, race
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial import winner
from einderive.frontend.trial.entrants import Entrant, Judge
from einderive.frontend.trial.races import ALWAYS, raced
from einderive.frontend.trial.winner import fastest_plain, first_right, is_over


def entrant(seconds: float, plain: bool) -> Entrant:
    trial = Trial("", None, (), seconds, 0.0, "")
    return Entrant(trial, run=cast(Any, lambda: None), call=lambda: None, plain=plain)


@pytest.mark.parametrize(("seconds", "races"), [(ALWAYS, True), (2 * ALWAYS, False)])
def test_the_fastest_plain_program_races_unless_it_is_long(seconds: float, races: bool) -> None:
    judge = Judge(cast(Any, None), cast(Any, None), "cpu", 0.0)
    given = [entrant(seconds, True), entrant(3 * seconds, True), entrant(1e-6, False)]
    found, stopped = raced(given, judge, 0.01)
    assert not stopped
    assert [one.timing is not None for one in found] == [races, False, True]
    assert found[0].seconds < seconds if races else found[0].seconds == seconds
    assert judge.fastest < inf


@pytest.mark.parametrize(
    ("scale", "wins", "chosen"), [(1.0, True, 1), (1.0, False, 0), (1e4, True, 0)]
)
def test_of_level_plain_programs_the_fastest_stands_if_it_wins_again_and_is_short(
    monkeypatch: pytest.MonkeyPatch, scale: float, wins: bool, chosen: int
) -> None:
    met = []

    def wins_again(own: Entrant, other: Entrant, _: Judge, *, won: bool) -> bool:
        assert not won
        met.append((own, other))
        return wins

    monkeypatch.setattr("einderive.frontend.trial.winner.wins_again", wins_again)
    monkeypatch.setattr(Judge, "left", inf)
    given = []
    for seconds in (1.01e-4 * scale, 1e-4 * scale, 2e-4 * scale):
        one = entrant(seconds, True)
        trial = replace(one.trial, families=cast(Any, ("normal numbers",)))
        given.append(replace(one, trial=trial, timing=Timing(seconds, 0.0, (seconds,) * 4)))
    judge = Judge(cast(Any, None), cast(Any, None), "cpu", 0.0)
    best = fastest_plain(list(given), judge, cast(Any, None), cast(Any, None))
    assert met == ([(given[1], given[0])] if scale == 1.0 else [])
    assert best is given[chosen]


@pytest.mark.parametrize(
    ("left", "seconds", "over"),
    [(1.0, 2e-4, False), (-1.0, 2e-4, True), (-1.0, 0.9e-4, True), (-1.0, 0.5e-4, False)],
)
def test_late_there_is_another_race_for_what_is_clearly_faster(
    monkeypatch: pytest.MonkeyPatch, left: float, seconds: float, over: bool
) -> None:
    monkeypatch.setattr(Judge, "left", left)
    judge = Judge(cast(Any, None), cast(Any, None), "cpu", 0.0)
    best, refused = entrant(1e-4, True), entrant(1e-5, False).out("refused")
    assert is_over([best, refused, entrant(seconds, False)], best, judge) is over


@pytest.mark.parametrize(("seconds", "runs"), [(0.1, 2), (0.02, 3), (0.01, 5), (0.006, 9)])
def test_a_program_that_races_alone_runs_a_few_times(
    monkeypatch: pytest.MonkeyPatch, seconds: float, runs: int
) -> None:
    monkeypatch.setattr("einderive.frontend.trial.races.race", race)  # which tests shorten
    monkeypatch.setattr(
        "einderive.frontend.timed.timing.timed", lambda run, cuda, calls=1: run() or seconds
    )
    monkeypatch.setattr(Judge, "left", inf)
    calls: list[int] = []
    given = replace(entrant(seconds, True), call=lambda: calls.append(1))
    judge = Judge(cast(Any, None), cast(Any, None), "cpu", 0.0)
    found, _ = raced([given], judge, 1.0)
    assert len(calls) == runs
    assert found[0].seconds == seconds


def test_where_faster_ones_are_refused_the_slow_ones_are_built_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fastest of those that were left out for their time alone, and are right."""

    def named(label: str, seconds: float, slow: bool = False, run: Any = None) -> Entrant:
        trial = Trial(label, cast("Any", label), (), seconds, 0.0, "")
        return Entrant(trial, run, run, slow=slow)

    built: list[str] = []

    def candidate(label: str, plan: Any, judge: Any, *, always: bool) -> Entrant:
        assert judge.fastest == inf
        built.append(label)
        return named(label, 1.0, run=print)

    def hard(one: Entrant, *_: object) -> Entrant:
        return one if one.trial.label == "c" else one.out("refused")

    monkeypatch.setattr(winner, "candidate", candidate)
    monkeypatch.setattr(winner, "tried_hard", hard)
    monkeypatch.setattr(winner, "checked", lambda one, *_: one)
    judge: Any = SimpleNamespace(fastest=1e-3)
    given = [
        named("a", 1e-3, run=print),
        named("b", 1.0),
        named("c", 0.3, slow=True),
        named("d", 0.2, slow=True),
        named("e", 0.4, slow=True),
    ]
    found = first_right(given, judge, cast("Any", None), cast("Any", None))
    assert found is given[2]
    assert found.run is print
    assert built == ["d", "c"]
    assert [one.trial.verdict for one in given] == ["refused", "", "", "refused", ""]
