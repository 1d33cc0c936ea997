"""Programs with sides of laws: every law is a step there, and a falsified law is noticed, though
floating point rounds different numbers to equal ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from einderive.derivations.rule import Rule
from einderive.derivations.rules.exponential import EXPONENTIAL
from einderive.derivations.rules.law import LAW, by_laws
from einderive.derivations.steps import kernel
from einderive.ta.equality.laws import EXP_SUM
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages
from einderive.ta.laws import REAL_LAWS
from tests.amount import sampled
from tests.derivations.seeds import points, read
from tests.fuzz.cases import read_case, replay, text_of, with_laws
from tests.fuzz.counts import Counts
from tests.fuzz.explore import BY_LAW, Exploration, Failure, difference
from tests.fuzz.judge import Judge
from tests.fuzz.law_programs import STEPS, law_program
from tests.fuzz.shrink import shrunk

NO_LETTERS = {"imaginary-square", "angle-values"}
"""Equations of numbers, which only `equivalent` uses."""
BY_CONSTRUCTORS = {"sum-constant"}
"""They write a sum over what is free of the index as a product; no scope has such a sum."""
COMPARED = tuple(name for name in STEPS if name.startswith("compared-"))


def test_the_laws_without_a_step_are_these() -> None:
    assert {*REAL_LAWS} - {*STEPS} == NO_LETTERS
    assert len(COMPARED) == 8
    assert not read("{S[k:0:4] 3*A}", A=()).sums


def equations_used(rule: Rule, scope: Scope, law: str) -> Iterator[int]:
    """The equations of the law by which a step on the scope is made."""
    for witness in rule.propose(scope):
        if isinstance(witness, BY_LAW) and witness.law == law:
            try:
                kernel.apply(scope, witness)
            except RuleRefused:
                continue
            yield witness.equation


@sampled(2)
@pytest.mark.parametrize("law", [law for law in STEPS if law not in BY_CONSTRUCTORS])
def test_every_equation_of_a_law_is_a_step_on_some_program(law: str) -> None:
    rule = by_laws(frozenset({law}))
    left = {*range(len(REAL_LAWS[law].equations))}
    for seed in range(60):
        for scope in stages(*law_program(Random(f"{law} {seed}"), law)):
            left -= {*equations_used(rule, scope, law)}
        if not left:
            break
    assert not left


def test_the_rule_of_exponentials_has_programs_too() -> None:
    found = 0
    for seed in range(20):
        for scope in stages(*law_program(Random(seed), EXP_SUM)):
            found += len(list(EXPONENTIAL.steps(scope)))
    assert found > 5


@sampled(16)
@pytest.mark.parametrize("law", [law for law in STEPS if law not in BY_CONSTRUCTORS])
def test_no_step_by_a_law_fails(law: str, seed: int) -> None:
    """On programs of its own, with chains of such steps and with corrupted witnesses."""
    counts, found = Counts(), list[Failure]()
    for number in range(20):
        random = Random(f"{seed} {law} {number}")
        roots = law_program(random, law)
        Exploration(random, with_laws([LAW], (law,)), counts, set(), found.append).run(roots)
    assert not found, text_of(found[0])
    assert counts.laws[law] or law == EXP_SUM  # a rule of its own


@sampled(2)
@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("tanh(90*A[i]) < tanh(90*B[i])", "A[i] < B[i]", True),
        ("tanh(90*A[i]) == tanh(90*B[i])", "A[i] == B[i]", True),
        ("exp(900*A[i]) < exp(900*B[i])", "A[i] < B[i]", True),
        ("exp(900*A[i]) != exp(900*B[i])", "A[i] != B[i]", True),
        ("exp(exp(9*A[i])) <= exp(exp(9*B[i]))", "A[i] <= B[i]", True),
        ("sigmoid(-90*A[i]) <= sigmoid(-90*B[i])", "B[i] <= A[i]", True),
        ("A[i]+2^60 < B[i]+2^60", "A[i] < B[i]", True),
        ("log(exp(A[i])+10^30) < log(exp(B[i])+10^30)", "A[i] < B[i]", True),
        ("exp(A[i])*exp(B[i]) == exp(A[i]+B[i])", "A[i] == A[i]", True),
        ("tanh(90*A[i]) < tanh(90*B[i])", "A[i] <= B[i]", False),
        ("tanh(90*A[i]) <= tanh(90*B[i])", "A[i] < B[i]", False),
        ("tanh(90*A[i]) == tanh(90*B[i])", "A[i] != B[i]", False),
        ("exp(A[i]) < exp(B[i])", "A[i] <= B[i]", False),
        ("exp(A[i]) == exp(B[i])", "A[i] <= B[i]", False),
        ("exp(900*A[i]) < exp(900*B[i])", "B[i] < A[i]", False),
        ("A[i]+2^60 < B[i]+2^60", "A[i] <= B[i]", False),
        ("A[i]^2 < B[i]^2", "A[i] < B[i]", False),
        ("abs(A[i]) == abs(B[i])", "A[i] == B[i]", False),
    ],
)
def test_what_floating_point_rounds_to_equal_numbers_is_no_difference(
    left: str, right: str, same: bool
) -> None:
    before, after = (
        read(f"{{L[i:0:60] where({side}, C[i], 5)}}", A=(60,), B=(60,), C=(60,))
        for side in (left, right)
    )
    judge = Judge()
    assert (difference(judge, before, after, ("compared-exp",)) == "") is same
    assert judge.rounded or not same


FALSE = {
    "(a < b)": ("(a <= b)", "(b < a)"),
    "(a <= b)": ("(a < b)",),
    "(a == b)": ("(a <= b)", "(a != b)"),
    "(a != b)": ("(a < b)",),
}
"""Right sides of the equations of comparisons, and false ones in their place."""
FALSIFIED = [
    (law, number, false)
    for law in COMPARED
    for number, said in enumerate(FALSE)
    for false in FALSE[said]
]


def first_failure(law: str) -> Failure | None:
    """On the programs of this law; as a case for a rule that uses it."""
    rules, found = with_laws([LAW], (law,)), list[Failure]()
    for number in range(200):
        random = Random(f"{law} {number}")
        roots = law_program(random, law)
        Exploration(random, rules, Counts(), set(), found.append).run(roots)
        if found:
            return shrunk(found[0], rules)
    return None


@sampled(len(FALSE[max(FALSE)]) * 6)
@pytest.mark.parametrize(("law", "number", "false"), FALSIFIED)
def test_a_falsified_comparison_is_noticed(
    law: str,
    number: int,
    false: str,
    monkeypatch: pytest.MonkeyPatch,
    forget: Callable[[], None],
) -> None:
    """And shrunk to a case that fails as long as the law is false."""
    equations = list(REAL_LAWS[law].equations)
    equations[number] = f"{equations[number].split(' = ')[0]} = {false}"
    monkeypatch.setitem(REAL_LAWS, law, replace(REAL_LAWS[law], equations=tuple(equations)))
    forget()
    failure = first_failure(law)
    assert failure is not None
    case = read_case(text_of(failure))
    assert points(case.start) <= 20
    assert replay(case, [LAW])
    monkeypatch.undo()
    forget()
    assert replay(case, [LAW]) == ""


def test_a_comparison_of_multiples_needs_its_condition(
    monkeypatch: pytest.MonkeyPatch, forget: Callable[[], None]
) -> None:
    """-2*a < -2*b says the opposite."""
    law = "compared-scaled"
    monkeypatch.setitem(REAL_LAWS, law, replace(REAL_LAWS[law], domain=""))
    forget()
    assert first_failure(law) is not None
