"""Two scopes compared from their definitions: true identities, false ones, and no false yes."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from einderive.derivations.checker import not_equal, not_shown, sets
from einderive.derivations.rule import Rule
from einderive.derivations.rules import RULES
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.kernel import kinds as known
from einderive.ta.ir import affine
from einderive.ta.ir.node import Scope
from einderive.ta.printing.show import show
from tests.amount import CAMPAIGN, examples, sampled
from tests.derivations.checker.changes import agree, changed
from tests.derivations.seeds import MOST_POINTS, points, read, seeded
from tests.derivations.small import FORMULAS, MACHINES, searched
from tests.strategies import Grammar, scopes

EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
VARIED = 60
SHAPES = {"A": (9,), "B": (9,), "C": (9, 9), "D": (9, 9), "K": (3,)}

EQUAL = [
    # the order, the split and the shift of sums
    ("{L[i:0:3] S[k:0:9] A[k]*C[i,k]}", "{L[i:0:3] S[p:0:3,q:0:3] A[3*p+q]*C[i,3*p+q]}"),
    ("{L[i:0:3] S[k:0:9] A[k]*C[i,k]}", "{L[i:0:3] S[k:2:11] A[k-2]*C[i,k-2]}"),
    ("{L[i:0:9] S[k:0:3] A[i+k-1]*K[k]}", "{L[i:0:9] S[t:-1:12] A[t]*K[t-i+1]}"),
    ("{L[i:0:9] S[k:0:3] A[i+k-1]}", "{L[i:0:9] S[t:0:9] A[t]*where(t >= i-1 and t <= i+1, 1, 0)}"),
    ("{L[i:0:9] S[k:0:9] A[k]}", "{L[i:0:9] S[k:-3:20] A[k]}"),
    # where a read misses
    ("{L[i:0:9] A[i-2]}", "{L[i:0:9] where(i >= 2, A[i-2], 0)}"),
    ("{L[i:0:9] A{fill=1}[i-2]}", "{L[i:0:9] where(i >= 2, A[i-2], 1)}"),
    ("{L[i:0:9] {L[j:0:4] A[j] + 1}[i-2]}", "{L[i:0:9] where(i >= 2 and i < 6, A[i-2] + 1, 0)}"),
    ("{L[i:0:9] relu(A[i-2])}", "{L[i:0:9] where(i >= 2, relu(A[i-2]), 0)}"),
    ("{L[i:0:9] exp(A[i-2])}", "{L[i:0:9] where(i >= 2, exp(A[i-2]), 1)}"),
    # equal factors, in either order, and sums of the same products
    ("{{S[k:0:3] A[k]}[]^2}", "{S[k:0:3,l:0:3] A[k]*A[l]}"),
    (
        "{S[k:0:3,l:0:3] A[k]*A[l]}",
        "{S[k:0:3] A[k]^2 + 2*{L[k:0:3] S[l:0:3] where(l > k, A[k]*A[l], 0)}[k]}",
    ),
    ("{L[i:0:3] S[k:0:2,l:0:3] A[i+k+l]}", "{L[i:0:3] S[k:0:3,l:0:2] A[i+k+l]}"),
    ("{L[i:0:3] S[k:0:9] (A[k] - B[i])^2}",
     "{L[i:0:3] {S[k:0:9] A[k]^2}[] - 2*B[i]*{S[k:0:9] A[k]}[] + 9*B[i]^2}"),
    # choices by values: what is read leaves them, and so do sums
    ("{L[i:0:3] where(B[i], A[i]*K[i], 0)}", "{L[i:0:3] A[i]*where(B[i], K[i], 0)}"),
    ("{L[i:0:3] where(B[i], A[i], 0)}", "{L[i:0:3] A[i]*where(B[i], 1, 0)}"),
    ("{L[i:0:3] where(B[i] < 0, A[i], K[i])}",
     "{L[i:0:3] where(B[i] < 0, A[i], 0) + where(B[i] < 0, 0, K[i])}"),
    ("{L[i:0:3] where(B[i], {L[i:0:3] S[k:0:9] C[i,k]/A[i]}[i], 0)}",
     "{L[i:0:3] S[k:0:9] C[i,k]*where(B[i], 1/A[i], 0)}"),
    ("{L[i:0:3] S[k:0:3] where(C[i,k], A[k]*exp(K[k]), where(i == k, A[k]*exp(K[k]), 0))}",
     "{L[i:0:3] S[k:0:3] A[k]*where(C[i,k], exp(K[k]), where(i == k, exp(K[k]), 0))}"),
    # max, min and prod
    ("{L[i:0:3] max[k:0:9] C[i,k]}", "{L[i:0:3] max[p:0:3] {L[i:0:3,p:0:3] max[q:0:3] "
     "C[i,3*p+q]}[i,p]}"),
    ("{L[i:0:3] max[k:0:3] C[i,k]}", "{L[i:0:3] max[k:0:3,l:0:3] C[i,(k+l)%3]}"),
    ("{L[i:0:3] max[k:0:9] C[i,k] + A[i]}", "{L[i:0:3] {L[i:0:3] max[k:0:9] C[i,k]}[i] + A[i]}"),
    ("{L[i:0:3] max[k:0:9] -2*C[i,k]}", "{L[i:0:3] -2*{L[i:0:3] min[k:0:9] C[i,k]}[i]}"),
    ("{L[i:0:3] max[k:0:3] maximum(A[k], C[i,k])}",
     "{L[i:0:3] maximum({max[k:0:3] A[k]}[], {L[i:0:3] max[k:0:3] C[i,k]}[i])}"),
    ("{L[i:0:3] prod[k:0:3] A[k]*C[i,k]}",
     "{L[i:0:3] {prod[k:0:3] A[k]}[]*{L[i:0:3] prod[k:0:3] C[i,k]}[i]}"),
    ("{prod[k:0:3] 2*A[k]}", "{8*{prod[k:0:3] A[k]}[]}"),
    # functions
    ("{L[i:0:9] relu(3*A[i])}", "{L[i:0:9] 3*relu(A[i])}"),
    ("{L[i:0:9] abs(-3*A[i])}", "{L[i:0:9] 3*abs(A[i])}"),
    ("{L[i:0:9] exp(A[i] + B[i-1])}", "{L[i:0:9] exp(A[i])*exp(B[i-1])}"),
    ("{L[i:0:9] A[i]/{L[i:0:9] S[k:0:9] exp({L[k:0:9] 2*B[k]}[k])*C[i,k]}[i]}",
     "{L[i:0:9] A[i]/{L[i:0:9] S[k:0:9] exp(2*B[k])*C[i,k]}[i]}"),
    ("{L[i:0:9] exp(-A[i])}", "{L[i:0:9] 1/exp(A[i])}"),
    ("{L[i:0:9] exp(A[i])*exp(-A[i])*B[i]}", "{L[i:0:9] B[i]}"),
    ("{L[i:0:9] {L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
     "{L[i:0:9] exp(A[i])*{L[i:0:9] S[k:0:9] exp(C[i,k] - A[i])}[i]}"),
    ("{L[i:0:9,j:0:9] exp(C[i,j])/{L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
     "{L[i:0:9,j:0:9] exp(C[i,j] - 3*A[i])/{L[i:0:9] S[k:0:9] exp(C[i,k] - 3*A[i])}[i]}"),
    ("{L[i:0:9] {L[i:0:9] S[k:0:9] exp(-C[i,k])*B[k]}[i]/{L[i:0:9] S[k:0:9] exp(-C[i,k])}[i]}",
     "{L[i:0:9] {L[i:0:9] S[k:0:9] exp(A[i] - C[i,k])*B[k]}[i]"
     "/{L[i:0:9] S[k:0:9] exp(A[i] - C[i,k])}[i]}"),
]  # fmt: skip

UNEQUAL = [
    # choices by values, which may hide a quotient, and have two branches
    ("{L[i:0:3] where(A[i], 1/A[i], 0)}", "{L[i:0:3] where(A[i], 1, 0)/A[i]}"),
    ("{L[i:0:3] where(B[i], A[i]*K[i], 0)}", "{L[i:0:3] A[i]*where(K[i], B[i], 0)}"),
    ("{L[i:0:3] where(B[i], A[i]*K[i], 1)}", "{L[i:0:3] A[i]*where(B[i], K[i], 1)}"),
    ("{L[i:0:3] where(B[i], A[i], K[i])}", "{L[i:0:3] where(B[i], K[i], A[i])}"),
    ("{L[i:0:3] where(B[i], A[i] + K[i], 0)}", "{L[i:0:3] where(B[i], A[i], 0) + K[i]}"),
    ("{L[i:0:3] where(B[i], 1, 0)^2*A[i]}", "{L[i:0:3] where(B[i], 2, 0)*A[i]}"),
    ("{L[i:0:3] S[k:0:9] A[k]*C[i,k]}", "{L[i:0:3] S[k:0:8] A[k]*C[i,k]}"),
    ("{L[i:0:3] S[k:0:9] A[k]*C[i,k]}", "{L[i:0:3] S[k:0:9] A[k]*C[k,i]}"),
    ("{L[i:0:3] S[k:0:9] A[k]*C[i,k]}", "{L[i:0:3] S[k:0:9] B[k]*C[i,k]}"),
    ("{L[i:0:3] S[k:0:9] A[k]*C[i,k]}", "{L[i:0:4] S[k:0:9] A[k]*C[i,k]}"),
    ("{L[i:0:9] S[k:0:3] A[i+k-1]}", "{L[i:0:9] S[k:0:3] A[i+k]}"),
    ("{L[i:0:9] S[k:0:3] A[i+k-1]}", "{L[i:0:9] S[k:0:3] A{fill=1}[i+k-1]}"),
    ("{L[i:0:9] A[i-2]}", "{L[i:0:9] where(i >= 3, A[i-2], 0)}"),
    ("{L[i:0:3] S[k:0:2,l:0:3] A[i+k+l]}", "{L[i:0:3] S[k:0:4] A[i+k]}"),
    ("{S[k:0:3,l:0:3] A[k]*A[l]}", "{S[k:0:3] A[k]^2}"),
    ("{S[k:0:3,l:0:3] A[k]*B[l]}", "{S[k:0:3,l:0:3] A[k]*B[k]}"),
    ("{S[k:0:9] 2*A[k]}", "{S[k:0:9] 3*A[k]}"),
    ("{S[k:0:9] A[k]}", "{max[k:0:9] A[k]}"),
    ("{max[k:0:9] A[k]}", "{max[k:0:9] A{fill=1}[k+1]}"),
    ("{max[k:0:9] A[k]}", "{max[k:0:8] A[k]}"),
    ("{max[k:0:9] -2*A[k]}", "{-2*{max[k:0:9] A[k]}[]}"),
    ("{prod[k:0:3] A[k]}", "{prod[k:0:3,l:0:2] A[k]}"),
    ("{prod[k:0:2] A{fill=-inf}[k+8]}", "{prod[k:0:3] A{fill=-inf}[k+8]}"),
    ("{prod[k:0:2] {S[l:0:9] B[l]}[]}", "{prod[k:0:3] {S[l:0:9] B[l]}[]}"),
    ("{L[i:0:9] relu(-3*A[i])}", "{L[i:0:9] -3*relu(A[i])}"),
    ("{L[i:0:9] exp(2*A[i])}", "{L[i:0:9] 2*exp(A[i])}"),
    ("{L[i:0:9] exp(A[i-2])}", "{L[i:0:9] where(i >= 2, exp(A[i-2]), 0)}"),
    ("{L[i:0:9] tanh(A[i] + B[i])}", "{L[i:0:9] tanh(A[i])*tanh(B[i])}"),
    ("{L[i:0:9] exp(-A[i])}", "{L[i:0:9] -exp(A[i])}"),
    ("{L[i:0:9] exp(-A[i])}", "{L[i:0:9] exp(A[i])}"),
    ("{L[i:0:9] exp(-A{fill=-inf}[i-2])}", "{L[i:0:9] 1/exp(A{fill=-inf}[i-2])}"),
    (
        "{L[i:0:9] {L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
        "{L[i:0:9] exp(A[i])*{L[i:0:9] S[k:0:9] exp(C[i,k] + A[i])}[i]}",
    ),
    (
        "{L[i:0:9] {L[i:0:9] S[k:0:9] exp(C[i,k])}[i]}",
        "{L[i:0:9] exp(A[i])*{L[i:0:9] S[k:0:9] exp(C[i,k] - A[k])}[i]}",
    ),
    ("{L[i:0:9] relu(A[i])}", "{L[i:0:9] A[i]}"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_true_identities_are_shown(left: str, right: str) -> None:
    one, other = read(left, **SHAPES), read(right, **SHAPES)
    assert agree(one, other)
    assert not_equal(one, other) is None
    assert not_equal(other, one) is None


@pytest.mark.parametrize(("left", "right"), UNEQUAL)
def test_false_identities_are_not(left: str, right: str) -> None:
    one, other = read(left, **SHAPES), read(right, **SHAPES)
    assert not_equal(one, other) is not None
    assert not_equal(other, one) is not None


def test_what_occurs_several_times_is_counted_along_the_witness() -> None:
    """A[i+k+l] takes one entry for several (k,l): of long sums, only the change of iterators tells
    them apart."""
    before = read("{L[i:0:3] S[k:0:200,l:0:300] A[i+k+l]}", A=(600,))
    after = read("{L[i:0:3] S[t:0:60000] A[i + t//300 + t%300]}", A=(600,))
    few = read("{L[i:0:3] S[t:0:59999] A[i + t//300 + t%300]}", A=(600,))
    t = affine.iterator(1)
    quotient, rest = affine.floordiv(t, 300), affine.modulo(t, 300)
    forward = (quotient, rest) if before.sums[0].extent == 200 else (rest, quotient)
    assert not_equal(before, after) == (
        "not shown: a product of the same entries occurs several times in one sum"
    )
    assert not_equal(before, after, forward) is None
    assert not_equal(before, after, forward[::-1]) is not None
    assert not_equal(before, few, forward) is not None


def test_short_sums_that_take_an_entry_several_times_are_written_out() -> None:
    before = read("{L[i:0:3] S[k:0:2,l:0:3] A[i+k+l]}", **SHAPES)
    after = read("{L[i:0:3] S[t:0:6] A[i + t//3 + t%3]}", **SHAPES)
    few = read("{L[i:0:3] S[t:0:5] A[i + t//3 + t%3]}", **SHAPES)
    weights = read("{L[i:0:3] A[i] + 2*A[i+1] + 2*A[i+2] + A[i+3]}", **SHAPES)
    wrong = read("{L[i:0:3] A[i] + 2*A[i+1] + A[i+2] + 2*A[i+3]}", **SHAPES)
    for same in (after, weights):
        assert agree(before, same)
        assert not_equal(before, same) is None
    for other in (few, wrong):
        assert not agree(before, other)
        assert not_equal(before, other) == "the two sides are different sums of products"


def test_too_much_work_is_not_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = read("{L[i:0:9] S[k:0:3] A[i+k-1]*K[k]}", **SHAPES)
    after = read("{L[i:0:9] S[t:-1:12] A[t]*K[t-i+1]}", **SHAPES)
    sets.context().set_max_operations(40)
    try:
        assert not_equal(before, after) == "not shown: too large for integer sets"
    finally:
        sets.context().set_max_operations(sets.MOST_OPERATIONS)
    assert not_equal(before, after) is None
    wide = read("{L[i:0:9] (A[i] + B[i] + C[i,0] + C[i,1] + C[i,2])^9}", **SHAPES)
    assert str(not_equal(wide, before)).startswith("not shown: too large: ")


def steps_of(rule: Rule, varied: int = VARIED) -> list[Step]:
    return [step for seed in range(varied) for step in rule.steps(seeded(rule, seed))]


@sampled(8)
@EVERY_RULE
def test_examples_and_nearly_all_varied_steps_are_shown(rule: Rule) -> None:
    for example in rule.examples:
        before, after = (read(t, **example.shapes) for t in (example.before, example.after))
        witnesses = [step.witness for step in rule.steps(before) if step.after is after]
        assert not_shown(before, after, witnesses[0]) is None, example.before
    steps = steps_of(rule)
    missed = [show(s.before) for s in steps if not_shown(s.before, s.after, s.witness)]
    assert len(missed) <= 0.05 * len(steps), missed


def test_every_kind_of_witness_is_met() -> None:
    kinds = {type(step.witness).__name__ for rule in RULES for step in steps_of(rule)}
    assert kinds | {"ReadPart"} == set(known())  # test_join has that of the joint rules


@sampled(8)
@pytest.mark.parametrize(
    ("varied", "least"), [(VARIED // 12, 1), pytest.param(VARIED, 10, marks=CAMPAIGN)]
)
@EVERY_RULE
def test_no_changed_side_passes_unless_it_is_equal(rule: Rule, varied: int, least: int) -> None:
    found: Counter[bool] = Counter()
    random = Random(f"changed {rule.name}")
    for step in steps_of(rule, varied):
        for _ in range(3):
            sides = [step.before, step.after]
            side = random.randrange(2)
            new = changed(sides[side], random)
            if new is None or points(new) > MOST_POINTS:
                continue
            sides[side] = new
            refused = not_equal(*sides) is not None
            found[refused] += 1
            assert refused or agree(*sides), [show(side) for side in sides]
    assert found[True] >= least


@given(scope=scopes(Grammar(max_depth=3)), seed=st.integers(0, 10**6))
@settings(
    max_examples=examples(200),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_random_scopes_are_equal_to_none_but_equals(scope: Scope, seed: int) -> None:
    assume(points(scope) <= MOST_POINTS)
    random = Random(seed)
    other = changed(scope, random)
    for _ in range(2):
        if other is not None and points(other) <= MOST_POINTS:
            assert not_equal(scope, other) is not None or agree(scope, other)
            other = changed(other, random)


@sampled(2)
@pytest.mark.parametrize("name", FORMULAS)
def test_the_steps_of_searches_are_shown(name: str) -> None:
    for machine in MACHINES:
        for plan in searched(name, machine).plans:
            for step in plan.steps:
                reason = not_shown(step.before, step.after, step.witness)
                assert reason is None, (show(step.before), reason)
