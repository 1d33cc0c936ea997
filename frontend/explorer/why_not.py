"""Why a rule was not used: what it proposes for each stage of a program, and which condition
refuses it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.search.graph import Graph, can_be_written
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.frontend.accuracy.levels import allowed
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.steps import graph_of
from einderive.frontend.report.derivation import RULE_OF
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from einderive.ta.printing.show import show_program

MOST = 24
"""This many proposals are looked at for each stage."""
NOTHING = "the rule proposes nothing here"
TOGETHER = "a rule for several stages at once, and it proposes no group of these"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A proposal of a rule for a stage and its outcome.

    - `place` is the stage's statement, `witness` the proposal in words.
    - `refused` says which condition does not hold; it is empty where the step can be taken.
    - `seconds` are the predicted ones of the stage before and after the step.
    """

    place: str
    witness: str
    refused: str
    seconds: tuple[float, float] | None = None


def attempts(derivation: Derived, name: str, candidate: int | None = None) -> tuple[Attempt, ...]:
    """What the rule proposes for the formula as given, or for a candidate, counted from 0."""
    plan = derivation.unchanged if candidate is None else derivation.candidates[candidate]
    rule, graph = RULE_OF[name], graph_of(derivation)
    program = derivation.staged(plan)
    texts = show_program(program).splitlines()[-len(program.statements) :]
    scopes = stages(*plan.roots)
    found: list[Attempt] = []
    if isinstance(rule, JointRule):
        groups = list(rule.groups(scopes))
        said = dict(zip(scopes, texts, strict=False))
        found += (
            _judged(derivation, graph, said.get(step.before, ""), step)
            for group in groups
            for step in group
        )
        return tuple(found) or (Attempt("; ".join(texts), "", TOGETHER),)
    for scope, text in zip(scopes, texts, strict=False):
        tried = list(_tried(derivation, graph, rule, scope, text))
        found += tried or [Attempt(text, "", NOTHING)]
    return tuple(found)


def _tried(
    derivation: Derived, graph: Graph, rule: Rule, scope: Scope, text: str
) -> Iterator[Attempt]:
    for witness in islice(rule.propose(scope), MOST):
        words = witness.words(scope)
        try:
            after = kernel.apply(scope, witness, exact=False)
        except RuleRefused as refusal:
            yield Attempt(text, words, str(refusal))
            continue
        if after is scope:
            yield Attempt(text, words, "it changes nothing")
        else:
            yield _judged(derivation, graph, text, Step(rule.name, scope, after, witness))


def _judged(derivation: Derived, graph: Graph, text: str, step: Step) -> Attempt:
    """A step that the kernel accepts; the options or its length may still leave it out."""
    refused = ""
    takes_part = allowed(derivation.accuracy, derivation.nan)
    if not can_be_written(step):
        refused = "its result is too long to be written out"
    elif takes_part is not None and not takes_part(step):
        refused = f'accuracy="{derivation.accuracy}" and nan="{derivation.nan}" leave it out'
    seconds = graph.estimate(step.before), graph.estimate(step.after)
    return Attempt(text, step.witness.words(step.before), refused, seconds)


def summary(found: Sequence[Attempt]) -> str:
    """`2 can be taken, 3 are refused`."""
    taken = sum(attempt.seconds is not None and not attempt.refused for attempt in found)
    return f"{taken} can be taken, {len(found) - taken} cannot"
