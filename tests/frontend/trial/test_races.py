"""Who races: the fastest plain program does, however slow its first run was."""

from math import inf
from typing import Any, cast

import pytest

from einderive.frontend.trial.entrants import Entrant, Judge
from einderive.frontend.trial.races import ALWAYS, raced
from einderive.frontend.trial.trial import Trial


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
