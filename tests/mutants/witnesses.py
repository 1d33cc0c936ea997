"""Steps and corrupted witnesses, each with what the kernel makes of it.

What is accepted has to be an equality of tensors, evaluated point by point; what raises anything
but RuleRefused is as wrong.  Scopes live in `ta`, which is not mutated; a witness is kept as its
kind and its fields, so that it can be made of the classes of a mutated kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import Any, NamedTuple

import numpy as np

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES
from einderive.derivations.steps import kernel
from einderive.ta.equality.compare import compare
from einderive.ta.equality.laws import EXP_SUM
from einderive.ta.errors import RuleRefused
from einderive.ta.exact.fields import RealField
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.derivations.sameness import same
from tests.derivations.seeds import corrupt, points, refused, seeded
from tests.fuzz.generator import program
from tests.fuzz.judge import Judge
from tests.mutants.corruptions import corruptions
from tests.oracle import difference

MOST_POINTS = 20_000
"""Of all stages of a result; larger ones are not compared."""


class Attempt(NamedTuple):
    """A witness on a scope; `after` is what the kernel makes of it, None where it refuses."""

    before: Scope
    kind: str
    fields: tuple[tuple[str, Any], ...]
    exact: bool
    after: Scope | None
    place: str
    """The field that is corrupted, nothing for a witness as a rule proposes it."""
    exp_sum: bool
    """Whether the rule's identity is that of exp and a sum."""
    rule: str
    """The one that proposed the witness, or whose witness was corrupted."""


class Fault(NamedTuple):
    """What is wrong with an attempt."""

    attempt: Attempt
    shows: str


@dataclass(frozen=True)
class Pool:
    attempts: tuple[Attempt, ...]
    faults: tuple[Fault, ...]


class _Trial(NamedTuple):
    before: Scope
    witness: Any
    place: str
    exact: bool
    exp_sum: bool
    rule: str


def collect(seeds: int, *, systematic: int, varied: int) -> Pool:
    """Attempts from the first `seeds` scopes of every rule: what is proposed; of the first
    `systematic` scopes, and where a kind of witness is first met, every corruption; of the others
    `varied` ones at random."""
    judge, found, faults = Judge(), list[Attempt](), list[Fault]()
    for trial in dict.fromkeys(_trials(seeds, systematic, varied)):
        before, witness, place, exact, exp_sum, rule = trial
        data = tuple((item.name, getattr(witness, item.name)) for item in fields(witness))
        kind = type(witness).__name__
        attempt = Attempt(before, kind, data, exact, None, place, exp_sum, rule)
        after, shows = outcome(judge, attempt)
        found.append(attempt._replace(after=after))
        if shows:
            faults.append(Fault(found[-1], shows))
    return Pool(tuple(found), tuple(faults))


def _trials(seeds: int, systematic: int, varied: int) -> Iterator[_Trial]:
    for rule in ALL_RULES:
        random, met = Random(f"corrupted {rule.name}"), set[type[Any]]()
        by_law = isinstance(rule, Rule) and EXP_SUM in (*rule.laws, *rule.proved)
        for seed in range(seeds):
            for before, witness in proposed(rule, seed):
                yield _Trial(before, witness, "", False, by_law, rule.name)
                yield _Trial(before, witness, "", True, by_law, rule.name)
                if seed < systematic or type(witness) not in met:
                    met.add(type(witness))
                    for number, (place, wrong) in enumerate(corruptions(witness)):
                        yield _Trial(before, wrong, place, number % 4 == 0, by_law, rule.name)
                for _ in range(varied):
                    changed = corrupt(witness, random)
                    if changed is not None:
                        exact = random.random() < 0.2
                        yield _Trial(before, changed, "some", exact, by_law, rule.name)
        for refusal in rule.refusals:
            yield _Trial(*refused(refusal), "refusal", True, by_law, rule.name)


def proposed(rule: Rule | JointRule, seed: int) -> Iterator[tuple[Scope, Any]]:
    """The witnesses on one of the rule's scopes and on a random program's, each once."""
    roots = program(Random(f"program {rule.name} {seed}"))
    if isinstance(rule, Rule):
        for before in dict.fromkeys((seeded(rule, seed), *stages(*roots))):
            yield from ((before, witness) for witness in dict.fromkeys(rule.propose(before)))
        return
    programs = [roots]
    if seed < len(rule.examples):
        example = rule.examples[seed]
        programs.append(parse(example.before, dict(example.shapes)).roots())
    for scopes in programs:
        groups = rule.propose(stages(*scopes))
        yield from dict.fromkeys(pair for group in groups for pair in group)


def kinds_of_rules() -> dict[str, frozenset[str]]:
    """The kinds of the witnesses that each rule proposes on its examples."""
    found = {}
    for rule in ALL_RULES:
        seeds = range(len(rule.examples)) if isinstance(rule, Rule) else range(2)
        witnesses = [witness for seed in seeds for _, witness in proposed(rule, seed)]
        found[rule.name] = frozenset(type(witness).__name__ for witness in witnesses)
    return found


def outcome(judge: Judge, attempt: Attempt) -> tuple[Scope | None, str]:
    """What the kernel makes of it, and what is wrong with that."""
    try:
        witness = kernel.kinds()[attempt.kind](**dict(attempt.fields))
        after = kernel.apply(attempt.before, witness, exact=attempt.exact)
    except RuleRefused:
        return None, ""
    except Exception as error:
        return None, f"raises {type(error).__name__}: {error}"
    if after is attempt.before or after is attempt.after:
        return after, ""
    if after.loops != attempt.before.loops:
        return after, f"the loops are {after.loops}"
    if points(after) > MOST_POINTS:
        return after, ""
    try:
        found = judge.difference(attempt.before, after)
        if found and attempt.exp_sum and _equal_by_law(attempt.before, after):
            return after, ""
        laws = attempt.kind in ("ByLaw", "FoldByLaw", "SumByLaw")
        if found and laws and same(attempt.before, after, [attempt.rule]):
            return after, ""
    except Exception as error:
        return after, f"cannot be evaluated: {type(error).__name__}: {error}"
    return after, str(found) if found else ""


def _equal_by_law(before: Scope, after: Scope) -> bool:
    """Whether they are equal where exp(a + b) = exp(a)*exp(b); with infinities, in floating point,
    since residues have none."""
    if compare([before], [after], exp_sum=True).equal:
        return True
    with np.errstate(all="ignore"):
        return difference(before, after, RealField()) is None


def first_fault(attempts: Sequence[Attempt], order: Sequence[int]) -> tuple[int, str] | None:
    """The first of the attempts, in that order, that goes wrong, and how."""
    judge = Judge()
    for number in order:
        attempt = attempts[number]
        _, shows = outcome(judge, attempt)
        if shows:
            return number, f"{attempt.kind} {attempt.place or 'proposed'}: {shows}"
    return None


Named = tuple[str, str]


def by_field(attempt: Attempt) -> Named:
    return attempt.kind, attempt.place


def by_rule(attempt: Attempt) -> Named:
    return attempt.rule, attempt.kind


def counts(pool: Pool, name: Callable[[Attempt], Named] = by_field) -> dict[Named, Counter[str]]:
    """For each kind of witness and each of its fields, or however they are named, of the corrupted
    witnesses: tried, refused, true all the same, wrong."""
    found: dict[Named, Counter[str]] = {}
    wrong = {id(fault.attempt) for fault in pool.faults}
    for attempt in pool.attempts:
        if attempt.place in ("", "some", "refusal"):
            continue
        row = found.setdefault(name(attempt), Counter())
        row["tried"] += 1
        if id(attempt) in wrong:
            row["wrong"] += 1
        else:
            row["refused" if attempt.after is None else "true"] += 1
    return found
