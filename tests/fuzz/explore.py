"""One random program: every rule on every scope of it, chains of steps, corrupted witnesses.

Each step is judged as an equality of its two scopes; each chain also as one of whole programs,
the last against the first.  What fails is handed on with all that is needed to see it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.steps import kernel
from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.derivations.steps.sum_by_law import SumByLaw
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import stages
from tests.derivations.seeds import corrupt, points
from tests.fuzz.counts import Counts
from tests.fuzz.judge import Judge

MOST_COMPARED = 20_000
"""Points of a step's result, all stages together, beyond which it is not compared."""
MOST_CHAINED = 5_000
"""Points of a program beyond which a chain ends."""
BY_LAW = (ByLaw, FoldByLaw, SumByLaw)
CHAINS = 2
EXACT_SHARE = 0.12
"""Of the programs on which each witness is applied with exact reasoning as well."""
CORRUPTED_SHARE = 0.1
"""Of the witnesses that are tried once more with one thing changed."""

Mode = Literal["search", "exact"]


@dataclass(frozen=True)
class Move:
    """A witness applied to a scope of the program at that point."""

    rule: str
    scope: Scope
    witness: Witness
    mode: Mode


@dataclass(frozen=True)
class Failure:
    """`moves`, one after the other, lead from `start` to something else, or the last one raises.

    `moves` is empty where a rule raises on `start` while it proposes; `rule` is that rule, or the
    last move's.  `corrupted`: the witness is none that the rule proposes.  `laws`: the identities
    of functions that the moves may rest on.
    """

    rule: str
    start: Scope
    moves: tuple[Move, ...]
    shows: str
    corrupted: bool = False
    laws: tuple[str, ...] = ()


Report = Callable[[Failure], None]


class Exploration:
    """All that is tried on one program; `counts` and `distinct` grow with it."""

    def __init__(
        self,
        random: Random,
        rules: Sequence[Rule | JointRule],
        counts: Counts,
        distinct: set[int],
        report: Report,
    ) -> None:
        self.random, self.counts, self.distinct, self.failed = random, counts, distinct, report
        self.rules = [rule for rule in rules if isinstance(rule, Rule)]
        self.joint_rules = [rule for rule in rules if isinstance(rule, JointRule)]
        self.laws = {rule.name: (*rule.laws, *rule.proved) for rule in self.rules}
        self.named = {rule.name: rule.laws for rule in self.rules}
        self.judge = Judge()
        self.exact = random.random() < EXACT_SHARE
        self.steps: dict[Scope, list[tuple[Move, Scope]]] = {}
        self.verdicts: dict[tuple[Scope, Scope, tuple[str, ...]], str] = {}

    def run(self, roots: Sequence[Scope]) -> None:
        for _ in range(CHAINS):
            self.chain(tuple(roots), self.random.randint(2, 4))
        self.counts.programs += 1
        self.counts.in_floats += self.judge.in_floats
        self.counts.rounded += self.judge.rounded

    def chain(self, roots: tuple[Scope, ...], length: int) -> None:
        """Steps at random places, all rules asked at each point of the way."""
        current, moves = roots, list[Move]()
        for _ in range(length):
            found = self.all_steps(current)
            if not found:
                break
            chosen = self.random.choice(sorted({move.rule for move, _ in found}))
            move, after = self.random.choice([s for s in found if s[0].rule == chosen])
            changed = tuple(replace_sources(root, {move.scope: after}) for root in current)
            if sum(map(points, changed)) > MOST_CHAINED:
                break
            current, moves = changed, [*moves, move]
            self.counts.chain_steps += 1
            laws = tuple(sorted({law for made in moves for law in self.laws.get(made.rule, ())}))
            for first, last in zip(roots, current, strict=True):
                shows = self.compared(first, last, laws)
                if shows:
                    self.failed(Failure(move.rule, first, tuple(moves), shows, laws=laws))
                    return
        if moves:
            self.counts.chains += 1
            self.all_steps(current)

    def all_steps(self, roots: Sequence[Scope]) -> list[tuple[Move, Scope]]:
        """The sound steps on every scope of the program; those of a scope are found once."""
        scopes = stages(*roots)
        for scope in scopes:
            if scope not in self.steps:
                self.steps[scope] = []
                self.counts.scopes += 1
                for rule in self.rules:
                    self.ask(rule, scope)
        found = [step for scope in scopes for step in self.steps[scope]]
        return found + [
            step for rule in self.joint_rules for step in self.ask_jointly(rule, scopes)
        ]

    def ask(self, rule: Rule, scope: Scope) -> None:
        try:
            witnesses = list(dict.fromkeys(rule.propose(scope)))
        except Exception as error:
            laws = self.laws[rule.name]
            self.failed(Failure(rule.name, scope, (), raised(error), laws=laws))
            return
        for witness in witnesses:
            self.steps[scope] += self.tried(rule.name, scope, witness)

    def ask_jointly(self, rule: JointRule, scopes: Sequence[Scope]) -> list[tuple[Move, Scope]]:
        try:
            groups = list(rule.propose(scopes))
        except Exception as error:
            self.failed(Failure(rule.name, scopes[-1], (), raised(error)))
            return []
        found: list[tuple[Move, Scope]] = []
        for scope, witness in dict.fromkeys(pair for group in groups for pair in group):
            known = [step for step in self.steps[scope] if step[0].witness == witness]
            if not known:
                known = self.tried(rule.name, scope, witness)
                self.steps[scope] += known
            found += known
        return found

    def tried(self, rule: str, scope: Scope, witness: Witness) -> list[tuple[Move, Scope]]:
        """The step by the witness, where there is one, and it is sound; with either reasoning."""
        fast = self.step(Move(rule, scope, witness, "search"))
        exact = None
        if self.exact:
            self.counts.exact_tried += 1
            exact = self.step(Move(rule, scope, witness, "exact"))
            self.counts.exact_accepted += exact is not None
            self.counts.exact_only += exact is not None and fast is None
        self.counts.refused += fast is None and exact is None
        if self.random.random() < CORRUPTED_SHARE:
            self.corrupted(rule, scope, witness)
        found = [step for step in (fast, exact) if step is not None and step[1] is not scope]
        self.counts.unchanged += not found and (fast is not None or exact is not None)
        small = [step for step in found if points(step[1]) <= MOST_COMPARED]
        self.counts.too_large += len(small) < len(found)
        self.counts.applications[rule] += bool(small)
        if small:
            named = (witness.law,) if isinstance(witness, BY_LAW) else self.named.get(rule, ())
            self.counts.laws.update(named)
        for _, after in small:
            pair = hash((scope.digest, after.digest))
            self.counts.distinct += pair not in self.distinct
            self.distinct.add(pair)
            if not self.laws.get(rule):
                self.counts.lost[rule] += self.judge.loses(scope, after)
        sound = {step[1]: step for step in reversed(small) if self.holds(*step)}
        return list(sound.values())

    def corrupted(self, rule: str, scope: Scope, witness: Witness) -> None:
        changed = corrupt(witness, self.random)
        if changed is None:
            return
        self.counts.corrupted += 1
        step = self.step(Move(rule, scope, changed, "exact" if self.exact else "search"), True)
        if step is not None and points(step[1]) <= MOST_COMPARED:
            self.counts.corrupted_accepted += self.holds(*step, corrupted=True)

    def step(self, move: Move, corrupted: bool = False) -> tuple[Move, Scope] | None:
        """The move with its result; None where the kernel refuses."""
        try:
            return move, kernel.apply(move.scope, move.witness, exact=move.mode == "exact")
        except RuleRefused:
            return None
        except Exception as error:
            self.failed(Failure(move.rule, move.scope, (move,), raised(error), corrupted))
            return None

    def holds(self, move: Move, after: Scope, *, corrupted: bool = False) -> bool:
        laws = self.laws.get(move.rule, ())
        shows = self.compared(move.scope, after, laws)
        if shows:
            self.failed(Failure(move.rule, move.scope, (move,), shows, corrupted, laws))
        return not shows

    def compared(self, before: Scope, after: Scope, laws: tuple[str, ...]) -> str:
        """How the two differ; nothing where they are equal."""
        if before is after:
            return ""
        shows = self.verdicts.get((before, after, laws))
        if shows is None:
            shows = difference(self.judge, before, after, laws)
            self.verdicts[before, after, laws] = shows
        return shows


def difference(judge: Judge, before: Scope, after: Scope, laws: Sequence[str] = ()) -> str:
    """How the two scopes differ; nothing where they are equal, and no finite point of the first is
    NaN or infinite in the second.  A law of exp does not keep numbers: exp(a)*exp(b) may
    overflow."""
    if before.loops != after.loops:
        return f"the loops are {after.loops} after {before.loops}"
    found = judge.difference(before, after, laws)
    if found:
        return str(found)
    spoiled = None if laws else judge.spoils(before, after)
    return f"{spoiled} in floating point" if spoiled else ""


def raised(error: Exception) -> str:
    """What a failure shows that is an exception."""
    return f"raises {type(error).__name__}: {error}".replace("\n", " ")
