"""A campaign: programs number 0, 1, 2, ... of a seed, explored one after the other.

Program n depends on the seed and on n only.  A failure is shrunk and written as a case; the
campaign goes on, with at most MOST_CASES of a rule written.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES
from tests.fuzz.cases import text_of, with_laws, write_case
from tests.fuzz.counts import Counts
from tests.fuzz.explore import Exploration, Failure
from tests.fuzz.generator import program
from tests.fuzz.law_programs import STEPS, law_program
from tests.fuzz.shrink import SECONDS, shrunk
from tests.fuzz.typed import typed_program

MOST_CASES = 3
"""Written for one rule: a wrong rule fails all the time."""
TYPED_SHARE = 0.15
"""Of the programs that are over integers' digits or complex numbers."""
LAWS_SHARE = 0.15
"""Of the programs that have a side of a law of functions; the laws that are used by name alone are
used there, a few in each program."""


@dataclass
class Campaign:
    """`cases` is where failures are written; `rules` are applied everywhere."""

    seed: int
    cases: Path
    rules: Sequence[Rule | JointRule] = ALL_RULES
    shrink_seconds: float = SECONDS
    counts: Counts = field(default_factory=Counts)
    distinct: set[int] = field(default_factory=set)
    written: list[Path] = field(default_factory=list)
    by_rule: Counter[str] = field(default_factory=Counter)

    def run(self, numbers: Iterable[int], go_on: Callable[[Counts], bool]) -> None:
        """Explores the programs of these numbers until `go_on` says no; it is asked after each."""
        for number in numbers:
            random, rules = Random(f"{self.seed} {number}"), self.rules
            kind = random.random()
            if kind < TYPED_SHARE:
                roots = typed_program(random)
            elif kind < 1 - LAWS_SHARE:
                roots = program(random)
            else:
                law, *others = random.sample(STEPS, random.choice((1, 1, 2)))
                roots = law_program(random, law)
                rules = with_laws(rules, (law, *others))
            found: list[Failure] = []
            explored = Exploration(random, rules, self.counts, self.distinct, found.append)
            try:
                explored.run(roots)
            finally:  # also where it is interrupted
                for failure in found:
                    self.failed(failure, rules)
            if not go_on(self.counts):
                return

    def failed(self, failure: Failure, rules: Sequence[Rule | JointRule]) -> None:
        self.counts.failures += 1
        if self.by_rule[failure.rule] >= MOST_CASES:
            return
        self.by_rule[failure.rule] += 1
        path = write_case(failure, self.cases)  # before shrinking, which may be interrupted
        smaller = shrunk(failure, rules, self.shrink_seconds)
        if text_of(smaller) != text_of(failure):
            whole, path = path, write_case(smaller, self.cases)
            whole.unlink(missing_ok=True)
        if path not in self.written:
            self.written.append(path)


def until(count: int | None, seconds: float | None) -> Callable[[Counts], bool]:
    """Goes on below so many applications and so many seconds from the call on."""
    end = None if seconds is None else time.monotonic() + seconds

    def go_on(counts: Counts) -> bool:
        return (count is None or counts.total < count) and (end is None or time.monotonic() < end)

    return go_on
