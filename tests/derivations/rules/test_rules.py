"""Every rule of the registry: its record, its examples, and its steps against the interpreter.

A new rule is tested by being registered; nothing here knows a rule by name.
"""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import fields
from fractions import Fraction
from functools import cache
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings

from einderive.derivations.rule import Rule
from einderive.derivations.rules import RULES
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import show, tensors_of
from tests.amount import CAMPAIGN, examples, sampled
from tests.derivations.sameness import same
from tests.derivations.seeds import MOST_POINTS, corrupt, points, read, refused, seeded
from tests.strategies import Grammar, scopes

EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
SEEDS = 200
LEAST_STEPS = 12
PART = 4
"""Of the steps, one of so many is judged every time, or LEAST_STEPS if these are fewer."""
LEAST_CORRUPTED = 12
RANDOM = Grammar(
    max_depth=3, fills=(Fraction(0), Fraction(0), Fraction(0), Fraction(2, 3)), max_extent=5
)


def judge(step: Step) -> None:
    """The step is an equality of tensors on the same loops, printable, and checks exactly."""
    assert step.after.loops == step.before.loops
    assert same(step.before, step.after, [step.rule])
    assert parse_expression(show(step.after), tensors_of(step.after)) is step.after
    assert kernel.apply(step.before, step.witness, exact=True) is step.after


@cache
def seeded_steps(name: str, every: bool) -> tuple[Step, ...]:
    """Of varied examples: of every one, or of as many as it takes for a sample."""
    (rule,) = (rule for rule in RULES if rule.name == name)
    found: list[Step] = []
    for seed in range(SEEDS):
        if every or len(found) < PART * LEAST_STEPS:
            found += rule.steps(seeded(rule, seed))
    return tuple(found)


def thinned(steps: tuple[Step, ...], part: int) -> tuple[Step, ...]:
    """One of so many, throughout the list, but not fewer than LEAST_STEPS."""
    return steps[:: max(1, min(part, len(steps) // LEAST_STEPS))]


@EVERY_RULE
def test_the_record_is_complete(rule: Rule) -> None:
    module = importlib.import_module("einderive.derivations.rules." + rule.name.replace("-", "_"))
    assert getattr(module, rule.name.replace("-", "_").upper()) is rule
    assert module.__doc__
    assert all((rule.formula, rule.conditions, rule.choices, rule.source, rule.propose.__doc__))
    assert rule.examples
    assert rule.refusals


def test_names_are_unique() -> None:
    assert max(Counter(rule.name for rule in RULES).values()) == 1


@EVERY_RULE
def test_examples_give_their_text(rule: Rule) -> None:
    for example in rule.examples:
        before = read(example.before, **example.shapes)
        after = read(example.after, **example.shapes)
        assert show(after) == example.after
        assert any(step.after is after for step in rule.steps(before)), example.before


@EVERY_RULE
def test_refusals_are_refused_for_their_reason(rule: Rule) -> None:
    for refusal in rule.refusals:
        before, witness = refused(refusal)
        with pytest.raises(RuleRefused) as error:
            kernel.apply(before, witness)
        assert refusal.reason in str(error.value)


@sampled(4)
@EVERY_RULE
@pytest.mark.parametrize("part", [PART, pytest.param(1, marks=CAMPAIGN)])
def test_steps_from_varied_examples_hold(rule: Rule, part: int) -> None:
    steps = seeded_steps(rule.name, part == 1)
    assert len(steps) >= LEAST_STEPS
    for step in thinned(steps, part):
        judge(step)


@sampled(2)
@EVERY_RULE
def test_steps_are_deterministic(rule: Rule) -> None:
    for step in seeded_steps(rule.name, False)[:10]:
        assert [s.after for s in rule.steps(step.before)] == [
            s.after for s in rule.steps(step.before)
        ]
        assert step.rule == rule.name
        assert step.after is not step.before


@given(scope=scopes(RANDOM))
@settings(
    max_examples=examples(250, 12),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_steps_from_random_scopes_hold(scope: Scope) -> None:
    assume(points(scope) <= MOST_POINTS)
    for rule in RULES:
        for step in rule.steps(scope):
            judge(step)


@sampled(2)
@EVERY_RULE
@pytest.mark.parametrize("count", [2, pytest.param(16, marks=CAMPAIGN)])
def test_chains_of_steps_hold(rule: Rule, count: int) -> None:
    """Steps of any rules one after the other, from an example of this one, also inside it."""
    for seed in range(count):
        start = seeded(rule, seed)
        random = Random(f"chain {rule.name} {seed}")
        current = start
        used: set[str] = set()
        for _ in range(4):
            target = random.choice(stages(current))
            steps = [step for other in RULES for step in other.steps(target)]
            if not steps:
                break
            step = random.choice(steps)
            if points(step.after) > MOST_POINTS:
                break
            judge(step)
            current = replace_sources(current, {target: step.after})
            used.add(step.rule)
        assert same(start, current, used)


@sampled(2)
@EVERY_RULE
@pytest.mark.parametrize("part", [2, pytest.param(1, marks=CAMPAIGN)])
def test_a_corrupted_witness_proves_nothing_false(rule: Rule, part: int) -> None:
    """It is refused, or what it proves is true all the same; nothing else may be raised."""
    random = Random(rule.name)
    refused: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    steps = seeded_steps(rule.name, part == 1)
    for step in thinned(steps, part):
        for _ in range(2):
            witness = corrupt(step.witness, random)
            if witness is None:
                continue
            maps = "maps" if isinstance(witness, ReindexLoops | ReindexSums) else "places"
            tried[maps] += 1
            try:
                after = kernel.apply(step.before, witness)
            except RuleRefused:
                refused[maps] += 1
                continue
            assert after.loops == step.before.loops
            if points(after) <= 5 * MOST_POINTS:
                assert same(step.before, after, [rule.name]), (show(step.before), witness)
    changeable = any(fields(step.witness) for step in steps)
    assert sum(tried.values()) >= (LEAST_CORRUPTED if changeable else 0)
    assert refused["maps"] >= 0.6 * tried["maps"]


@EVERY_RULE
def test_empty_ranges_are_left_alone(rule: Rule) -> None:
    """An empty scope gives no step, or a true one."""
    for seed in range(len(rule.examples) + 4):
        scope = seeded(rule, seed)
        for position in range(len(scope.domain)):
            domain = list(scope.domain)
            domain[position] = Range(domain[position].lo, domain[position].lo)
            first = len(scope.loops)
            empty = make_scope(domain[:first], domain[first:], scope.body, scope.reducer)
            for step in rule.steps(empty):
                judge(step)
