"""Exponentials about their maximum: what the step makes, what the checker says, and what a person
gets who writes a softmax without its maximum."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.checker import not_shown
from einderive.derivations.rules.exponential_shift import EXPONENTIAL_SHIFT, propose
from einderive.derivations.steps import kernel
from einderive.derivations.steps.exponential_shift import ExponentialShift
from einderive.derivations.steps.told import UNNAMED
from einderive.eops.torch_views.stage import lower_all
from einderive.frontend.running.about_maxima import about_maxima
from einderive.ta.errors import RuleRefused
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.subst import stages, walk
from einderive.ta.notation.parse import parse_expression
from tests.frontend.races import candidates_win

A = {"A": (4, 5)}
RULE = EXPONENTIAL_SHIFT.name
SOFTMAX = "Y[i,j] = exp(A[i,j])/sum[k](exp(A[i,k]))"
LOGARITHM = "Y[i] = log(sum[k](exp(A[i,k])))"
QUOTIENTS: list[tuple[str, dict[str, Any], str]] = [
    (SOFTMAX, A, "Y[i,j] = exp(A[i,j]-max[k](A[i,k]))/sum[k](exp(A[i,k]-max[l](A[i,l])))"),
    (
        "Y[i,e] = sum[k](exp(2*A[i,k])*V[k,e])/sum[k](exp(2*A[i,k]))",
        {**A, "V": (5, 3)},
        "Y[i,e] = sum[k](exp(2*A[i,k]-max[l](2*A[i,l]))*V[k,e])"
        "/sum[k](exp(2*A[i,k]-max[l](2*A[i,l])))",
    ),
    (
        "Y[i,j] = B[j]*exp(A[i,j]-B[j])/sum[k](exp(A[i,k]-B[k]))",
        {**A, "B": (5,)},
        "Y[i,j] = B[j]*exp(A[i,j]-B[j]-max[l](A[i,l]-B[l]))"
        "/sum[k](exp(A[i,k]-B[k]-max[l](A[i,l]-B[l])))",
    ),
]


def root(text: str, shapes: dict[str, Any]) -> Scope:
    (found,) = ed.parse(text, **shapes).roots()
    return found


@pytest.mark.parametrize(("text", "shapes", "after"), QUOTIENTS)
def test_quotients(text: str, shapes: dict[str, Any], after: str) -> None:
    before = root(text, shapes)
    (witness,) = propose(before)
    found = kernel.apply(before, witness)
    assert found is root(after, shapes)
    assert not_shown(before, found, witness) is None
    assert not [*propose(found)]


def test_a_logarithm_becomes_the_maximum_and_a_logarithm() -> None:
    before = root(LOGARITHM, A)
    (witness,) = propose(before)
    between = kernel.apply(before, witness)
    assert not_shown(before, between, witness) is None
    (by_law,) = (each for rule in EXPONENTIAL_SHIFT.then for each in rule.propose(between))
    other = root("Y[i] = log(exp(A[i,0]))", A)
    assert not [each for rule in EXPONENTIAL_SHIFT.then for each in rule.propose(other)]
    found = kernel.apply(between, by_law)
    assert not_shown(between, found, by_law) is None
    assert found is root("Y[i] = max[k](A[i,k]) + log(sum[k](exp(A[i,k]-max[l](A[i,l]))))", A)


@pytest.mark.parametrize(
    "text",
    [
        "Y[i] = sum[k](exp(A[i,k]))",
        "Y[i] = 1/sum[k](exp(A[i,k]))",
        "Y[i,j] = softmax[j](A[i,j])",
        "Y[i] = logsumexp[k](A[i,k])",
        "Y[i,j] = A[i,j]/sum[k](exp(A[i,k]))",
        "Y[i,j] = exp(A[i,j])/sum[k](exp(A[i,k])+1)",
        "Y[i,j] = exp(A[i,j])/max[k](exp(A[i,k]))",
        "Y[i] = tanh(sum[k](exp(A[i,k])))",
        "Y[i] = log(1 + sum[k](exp(A[i,k])))",
        "Y[i] = log(sum[k](exp(A[i,k]))) where k in 2:2",
        "Y[i] = sum[k](exp(2*A[i,k])*A[i,k])/sum[k](exp(A[i,k]))",
        "Y[i] = sum[k](exp(A[0,k])*A[0,k])/sum[k](exp(A[i,k]))",
        "Y[i] = sum[l](exp(A[i,l+1])*A[i,l])/sum[k](exp(A[i,k])) where l in 0:4",
    ],
)
def test_it_is_not_proposed_where_nothing_is_gained(text: str) -> None:
    assert not [each for scope in stages(root(text, A)) for each in propose(scope)]


def test_numbers_about_a_mean_are_not_about_their_maximum() -> None:
    text = "Y[i,j] = exp(A[i,j]-mean[k](A[i,k]))/sum[l](exp(A[i,l]-mean[k](A[i,k])))"
    assert len([*propose(root(text, A))]) == 1


def test_two_iterators_of_the_sums() -> None:
    weights = "exp(A[i,k]*A[i,l]*A[0,k])"
    before = root(f"Y[i] = sum[k,l]({weights}*A[i,l])/sum[k,l]({weights})", A)
    (witness,) = propose(before)
    found = kernel.apply(before, witness)
    assert not_shown(before, found, witness) is None
    assert not [*propose(found)]


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("log(sum[k](exp(A[i,k])))", "reassociates"),
        ("log(sum[k](exp(A[i,k]-A[k,i])))", "cancels"),
        ("log(sum[k](exp(A[i,k]))) + log(sum[k](exp(A[i,k]-A[k,i])))", "cancels"),
    ],
)
def test_what_it_rounds(text: str, effect: str) -> None:
    before = root(f"Y[i] = {text} where i in 0:4, k in 0:4", A)
    (witness,) = propose(before)
    after = kernel.apply(before, witness)
    assert witness.rounding(before, after, EXPONENTIAL_SHIFT.exactness) == effect
    assert not witness.keeps_nonfinite(before, after)


def test_an_infinite_number_takes_no_part() -> None:
    before = root("Y[i] = log(sum[k](exp(where(k < i, A[i,k], -inf))))", A)
    (place,) = (p for p, term in enumerate(walk(before.body)) if isinstance(term, Access))
    with pytest.raises(RuleRefused, match="infinite"):
        kernel.apply(before, ExponentialShift((place,)))


@pytest.mark.parametrize("fill", ["", "{fill=7}"])
def test_a_numerator_that_is_read_outside_of_its_ranges(fill: str) -> None:
    """Its fill is not divided by exp of the maximum."""
    above, below = (f"{{L[i:0:{n}] S[k:0:5] exp(A[i,k])}}" for n in (3, 4))
    text = f"{{L[i:0:4] {above}{fill}[i]/{below}[i]}}"
    assert not [*propose(parse_expression(text, {"A": expr.tensor("A", (4, 5))}))]
    inside = text.replace("L[i:0:4]", "L[i:0:3]", 1)
    assert [*propose(parse_expression(inside, {"A": expr.tensor("A", (4, 5))}))]


def test_complex_numbers_have_no_maximum() -> None:
    before = root("Y[i] = log(sum[k](exp(1j*A[i,k])))", A)
    (witness,) = propose(before)
    with pytest.raises(RuleRefused, match="complex"):
        kernel.apply(before, witness)
    assert about_maxima(before) is before


def test_several_sums_are_shifted_in_one_step() -> None:
    before = root(f"{SOFTMAX} + exp(2*A[i,j])/sum[k](exp(2*A[i,k]))", A)
    (witness,) = propose(before)
    found = kernel.apply(before, witness)
    assert not_shown(before, found, witness) is None
    assert not [*propose(found)]


def test_what_is_said_of_it() -> None:
    before = root("Y[i] = log(sum[k](2*exp(A[i,k])))", A)
    (witness,) = propose(before)
    assert isinstance(witness, ExponentialShift)
    assert witness.bound(before, UNNAMED)[1] == ("g(s,t)", "2")
    assert witness.told(before, UNNAMED).endswith("are taken about their maximum")


def test_all_stages_of_a_scope() -> None:
    text = "P[i,j] = exp(A[i,j])/sum[k](exp(A[i,k])); Y[i] = log(sum[j](exp(P[i,j])))"
    (found,) = ed.parse(text, **A).roots()
    again = about_maxima(found)
    assert not [each for scope in stages(again) for each in propose(scope)]
    data = {t: torch.randn(4, 5, dtype=torch.float64) for t in input_tensors(found)}
    torch.testing.assert_close(lower_all(again)(data), lower_all(found)(data))
    assert about_maxima(again) is again


LINES = [(SOFTMAX, lambda x: torch.softmax(x, 1)), (LOGARITHM, lambda x: torch.logsumexp(x, 1))]


def large() -> torch.Tensor:
    return 500 * torch.randn(4, 5, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("text", "line"), LINES)
def test_large_numbers_do_not_overflow(text: str, line: Any) -> None:
    found = ed.compile(text, A=(4, 5), effort="instant")(large())
    torch.testing.assert_close(found, line(large()))


@pytest.mark.compiled
@pytest.mark.parametrize(("text", "line"), LINES)
def test_only_programs_about_the_maximum_replace_torch_functions(
    text: str, line: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Candidates that keep the formula's exponentials are tried before, and refused."""
    candidates_win(monkeypatch)
    found = ed.compile(text, A=(40, 50))
    assert any(trial.verdict.startswith("refused") for trial in found.trials)
    assert found.chosen.plan is not None
    assert RULE in [step.rule for step in found.chosen.plan.steps]
    x = 30 * torch.randn(40, 50, generator=torch.Generator().manual_seed(0)) + 300
    torch.testing.assert_close(found(x), line(x))


def test_exponentials_of_large_integers_do_not_overflow() -> None:
    i = torch.arange(20).reshape(4, 5) * 50
    found = ed.compile(SOFTMAX, A=(4, 5), dtypes="int64", effort="instant")(i)
    torch.testing.assert_close(found, torch.softmax(i.float(), 1))
