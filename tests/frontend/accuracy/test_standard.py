"""The error of the formula as written, which every program is judged by."""

from __future__ import annotations

from math import inf

import pytest

import einderive as ed
from einderive.frontend.accuracy import standard
from einderive.frontend.accuracy.accept import reference
from einderive.frontend.accuracy.standard import in_part, standard_error
from einderive.frontend.baselines.rival import executable, rivals
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.entrants import Entrant
from einderive.frontend.trial.hard import judge_of, raise_standard
from einderive.ta.exact.direct import computed_points

GATHER = "y[i] = 511*Y[i]; j[i] = floor(y[i]); O[i] = (y[i]-j[i])*I[j[i],i%512]"


def test_a_gather_is_as_much_work_as_its_entries() -> None:
    """It is computed in full: of a few entries all might read outside, and have no error."""
    program = ed.parse(GATHER, Y=(4096,), I=(512, 512))
    assert computed_points(*program.roots()) <= 16 * 4096
    expected = reference(program, "cpu")
    assert not expected.parts
    assert standard_error(program, expected) > 1e-7


@pytest.mark.parametrize("seconds", [0.0, inf])
def test_of_a_part_the_most_exact_plain_program_counts_too(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard, "FULL_SECONDS", seconds)
    derivation = ed.derive("Y[i] = exp(X[i])", X=(999,), budget=ed.Budget(states=1))
    judge = judge_of(derivation, "cpu", 0.0)
    known = judge.base
    (rival, *_) = rivals(judge.program, "cpu")
    run = executable(rival, judge.program, judge.expected.types)
    plain = [
        Entrant(Trial("baseline", None, (), 1e-3, error, "baseline"), run=run)
        for error in (3e-3, 1e-3, inf)
    ]
    refused = Entrant(Trial("baseline", None, (), 1e-3, 1e-4, "refused"))
    raise_standard(judge, [*plain, refused])
    assert in_part(judge.program, judge.expected) is (seconds == 0)
    assert judge.base == (1e-3 if seconds == 0 else known)
