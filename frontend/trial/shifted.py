"""The first candidate with its exponentials about their maximum: right where no line of torch is.

    Y[i] = log(sum[j](2*exp(X[i,j])))      X about 1000
         = M[i] + log(sum[j](2*exp(X[i,j] - M[i]))),    M[i] = max[j](X[i,j])

The formula as written is infinite there, and so is every line of torch: none of its operators
computes just this.  The candidate has digits there, so it is the last standard that programs are
judged by on hard inputs (`accuracy.plain_standard`): a faster program that overflows is refused.
It is built where no plain program is right, and once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from einderive.derivations.rules.exponential_shift import EXPONENTIAL_SHIFT
from einderive.derivations.rules.named import NAMES
from einderive.derivations.search.extract import Plan
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.law import ByLaw
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.derived import Derived
from einderive.frontend.running.execute import Executable
from einderive.frontend.trial.entrants import Entrant, Judge, candidate
from einderive.frontend.trial.hard import checked, right_ones, tried_hard


def about_maxima(derivation: Derived) -> tuple[int, Plan] | None:
    """The candidate, and its number counted from 1."""
    for number, plan in enumerate(derivation.candidates, 1):
        if any(step.rule == EXPONENTIAL_SHIFT.name for step in plan.steps):
            return number, plan
    return None


def named(derivation: Derived) -> tuple[int, Plan] | None:
    """The candidate in which the most functions have got their names that overflow otherwise, and
    its number."""
    found = [
        (sum(map(_names, plan.steps)), -number, plan)
        for number, plan in enumerate(derivation.candidates, 1)
    ]
    most, number, plan = max(found, key=lambda each: each[:2], default=(0, 0, None))
    return (-number, plan) if plan is not None and most else None


def _names(step: Step) -> bool:
    return isinstance(step.witness, ByLaw) and step.witness.law in NAMES


@dataclass(frozen=True, eq=False)
class Shifted:
    """The candidate of a derivation, as the judge of its programs sees it."""

    derivation: Derived
    judge: Judge

    @cached_property
    def entrant(self) -> Entrant | None:
        """The candidate, run by torch, if there is one: out of the race where it is not right on
        random inputs, or its derivation does not check, and not for its time alone."""
        if (found := about_maxima(self.derivation)) is None:
            return None
        number, plan = found
        judge = replace(self.judge, fastest=inf)
        entrant = candidate(f"candidate {number}", plan, judge, always=True)
        if entrant.run is None:
            return entrant
        return checked(entrant, self.derivation, self.judge)

    def after(self, plain: Iterable[Entrant]) -> Iterator[Executable]:
        """The plain programs that are right on random inputs, and the candidate as the last one."""
        yield from right_ones(plain, self.judge)
        if (last := self.entrant) is not None and last.run is not None:
            yield last.run

    def tried(self, hard: HardCases) -> Entrant | None:
        """The candidate with its errors on hard inputs, out of the race if these bind."""
        if (last := self.entrant) is None or last.run is None:
            return last
        return tried_hard(last, hard, self.derivation)
