"""What the rules say of NaN and infinity, against float64 evaluation of both sides.

Inputs are drawn from NaN, the infinities and a few numbers whose sums and products are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES, RULES
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Power, Scope, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.subst import rebuild, stages, walk
from einderive.ta.notation.parse import parse, parse_expression
from einderive.ta.printing.show import show
from tests.amount import CAMPAIGN, PART, examples, sampled
from tests.derivations.seeds import MOST_POINTS, points, read, seeded
from tests.fuzz.generator import program
from tests.strategies import Grammar, scopes

SEEDS = 80
DRAWS, MANY = 6, 60
PROGRAMS = 60
VALUES = np.array([math.nan, math.inf, -math.inf, 0, 0, 1, 1, 1, -2, -2, 1000])
RANDOM = Grammar(
    max_depth=3,
    max_extent=4,
    functions=("exp", "relu", "abs", "maximum"),
    exponents=(2, -1),
    fills=(Fraction(0), Fraction(0), Fraction(2)),
)
WHERE_IT_SHOWS = {
    "distribute": [("{S[k:0:4,l:0:4] A[k] - A[l]}", {"A": (4,)})],
    "expand": [("{L[i:0:4] (A[i] - B[i])^2}", {"A": (4,), "B": (4,)})],
    "fuse-producers": [
        (
            "{L[i:0:3] C[i]*{S[k:0:3] {L[x:0:2] {L[x:0:2] A[x]*B[0]}[x]}[k]}[]}",
            {"A": (2,), "B": (1,), "C": (3,)},
        )
    ],
    "phase": [("{L[h:0:4] S[r:0:3] A[2*h+r]*K[r]}", {"A": (11,), "K": (3,)})],
    "provisional-mean": [
        (
            "{L[c:0:2] S[b:0:2,i:0:2] (A[c,b,i] - {L[c:0:2] S[j:0:2] B[c,j]}[c])^2}",
            {"A": (2, 2, 2), "B": (2, 2)},
        )
    ],
    "scale-through": [("{L[i:0:4] abs(2*A[i]) - 2*abs(A[i])}", {"A": (4,)})],
    "split-range": [
        ("{L[i:0:4] where(i < 2, A[i], 0)*B[i]}", {"A": (4,), "B": (4,)}),
        ("{L[i:-2:3] inf*where(i >= 0, A[0], 0)}", {"A": (4,)}),
        ("{L[i:0:7] S[k:3:8] B[k]*where(i >= k, A[i], 0)}", {"A": (7,), "B": (8,)}),
    ],
    "merge-stage": [
        ("{L[i:0:4] S[k:0:6] exp({L[l:0:3] 0}[k%2]*A[k])}", {"A": (6,)}),
        ("{L[i:0:3] exp({L[k:0:1] 0}[i-1]/{L[l:0:1] 0}{fill=1}[i])}", {}),
    ],
    "exponential": [("{L[i:0:4] exp(A[i] + B[0])}", {"A": (4,), "B": (4,)})],
}
"""Scopes on which rules lose a NaN, where varied examples seldom do."""
JOINED: tuple[tuple[str, dict[str, tuple[int, ...]]], ...] = (
    ("Y[t,o] = X[t,i]*W[o,i]; Z[t,o] = X[t,i]*V[o,i]", {"X": (3, 2), "W": (2, 2), "V": (3, 2)}),
    (
        "Y[f,h] = A[c,h+r-1]*K[f,c,r] where h in 0:4; Z[f,h] = A[c,h]*L[f,c]",
        {"A": (2, 4), "K": (3, 2, 3), "L": (2, 2)},
    ),
)


def kind(values: np.ndarray, signed: bool) -> np.ndarray:
    """0 for a number, 2 for NaN, else an infinity, with its sign where that is meant."""
    infinite = np.isinf(values) * (np.sign(np.nan_to_num(values)) if signed else 1)
    return np.where(np.isnan(values), 2, infinite)


def found_elsewhere(step: Step, draws: int = DRAWS) -> bool:
    """Whether some inputs give NaN or an infinity at another position before than after."""
    tensors = input_tensors(step.before, step.after)
    divides = any(
        isinstance(node, Power) and node.exponent < 0
        for stage in stages(step.before)
        for node in walk(stage.body)
    )
    for seed in range(draws):
        generator = np.random.default_rng(seed)
        odds = np.ones(len(VALUES))
        odds[:3] = (0.0, 1.0, 0.3)[seed % 3]  # few or many of them: NaN hides what else happens
        odds[0] = odds[0] if seed > 2 else 0
        values = {t.name: _drawn(t, generator, odds) for t in tensors}
        before, after = (
            kind(np.asarray(evaluate(side, values, RealField())), not divides)
            for side in (step.before, step.after)
        )
        if (before != after).any():
            return True
    return False


def _drawn(tensor: Tensor, generator: np.random.Generator, odds: np.ndarray) -> np.ndarray:
    """Integers are finite."""
    chosen = odds if tensor.dtype.startswith("float") else np.where(np.isfinite(VALUES), odds, 0)
    return generator.choice(VALUES, tensor.shape, p=chosen / chosen.sum())


@cache
def steps_of(name: str) -> tuple[Step, ...]:
    (rule,) = (rule for rule in ALL_RULES if rule.name == name)
    texts = [read(text, **shapes) for text, shapes in WHERE_IT_SHOWS.get(name, ())]
    if isinstance(rule, JointRule):
        return tuple(joint_steps(rule))
    return tuple(
        step
        for scope in [*texts, *(seeded(rule, seed) for seed in range(SEEDS))]
        for step in rule.steps(scope)
    )


def joint_steps(rule: JointRule) -> Iterator[Step]:
    for text, shapes in JOINED:
        for group in rule.groups(parse(text, shapes).roots()):
            yield from group


EVERY_RULE = pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)


@sampled(4)
@pytest.mark.parametrize("part", [2 * PART, pytest.param(1, marks=CAMPAIGN)])
@EVERY_RULE
def test_steps_that_are_said_to_keep_do(rule: Rule | JointRule, part: int) -> None:
    kept = [step for step in steps_of(rule.name) if step.keeps_nonfinite()]
    for step in kept[::part]:
        assert not found_elsewhere(step), (show(step.before), show(step.after))


@sampled(4)
@EVERY_RULE
def test_a_rule_that_assumes_nothing_keeps_by_every_step(rule: Rule | JointRule) -> None:
    """And one that assumes something loses a NaN or an infinity by some step."""
    draws = MANY if rule.assumes_no_nan else DRAWS
    lost = any(found_elsewhere(step, draws) for step in steps_of(rule.name))
    assert lost == bool(rule.assumes_no_nan)
    if not rule.assumes_no_nan:
        assert all(step.keeps_nonfinite() for step in steps_of(rule.name))


@given(scope=scopes(RANDOM))
@settings(
    max_examples=examples(120),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_steps_from_random_scopes_keep_where_said(scope: Scope) -> None:
    assume(points(scope) <= MOST_POINTS)
    for rule in RULES:
        for step in rule.steps(scope):
            if step.keeps_nonfinite():
                assert not found_elsewhere(step), (rule.name, show(step.before), show(step.after))


def test_the_maximum_of_nothing_is_infinite() -> None:
    """A is float, B holds integers; the product of B has no place in the sum where it is -inf."""
    tensors = {"A": expr.tensor("A", (2, 2)), "B": expr.tensor("B", (2,), "int64")}
    for extent, keeps in ((0, False), (1, True)):
        nested = f"{{L[i:0:2] max[j:0:{extent}] B[j]*B[i]}}[i]"
        scope = parse_expression(f"{{L[i:0:2] S[k:0:2] A[i,k]*{nested}}}", tensors)
        assert isinstance(scope, Scope)
        step = Step("hoist", scope, kernel.apply(scope, SplitSum((0,))), SplitSum((0,)))
        assert step.keeps_nonfinite() is keeps
        assert found_elsewhere(step) is not keeps


def of_many_kinds(random: Random) -> Iterator[Scope]:
    """The scopes of a program of a fuzzing campaign, some of its tensors of integers and some of
    the reductions over nothing."""
    integers = {name for name in "ABCDEFGHKMNPQRTUVWXZ" if random.random() < 0.5}
    done: dict[Scope, Scope] = {}

    def changed(access: Access) -> Node:
        source = access.source
        if isinstance(source, Scope):
            return expr.access(done[source], access.rows, access.fill)
        if not is_input(source):
            return access
        dtype = "int64" if source.name in integers else source.dtype
        return expr.access(expr.tensor(source.name, source.shape, dtype), access.rows, access.fill)

    for stage in stages(*program(random)):
        sums = [Range(s.lo, s.lo) if random.random() < 0.1 else s for s in stage.sums]
        body = rebuild(stage.body, changed)
        done[stage] = make_scope(stage.loops, sums, body, stage.reducer)
    yield from done.values()


@pytest.mark.parametrize("programs", [PROGRAMS // PART, pytest.param(PROGRAMS, marks=CAMPAIGN)])
def test_steps_on_integers_and_empty_ranges_keep_where_said(programs: int) -> None:
    said = 0
    for seed in range(programs):
        for scope in of_many_kinds(Random(f"kinds {seed}")):
            for rule in RULES:
                for step in rule.steps(scope):
                    if step.keeps_nonfinite():
                        said += 1
                        assert not found_elsewhere(step), (
                            *(rule.name, seed, show(step.before), show(step.after)),
                        )
    assert said > 4 * programs
