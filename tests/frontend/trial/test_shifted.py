"""Where the formula and every line of torch overflow, a candidate about the maximum is chosen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.record.verify import Finding, Report
from einderive.derivations.rules.exponential_shift import EXPONENTIAL_SHIFT
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.accuracy.inputs.families import FAMILIES
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.bench.choices.found import _right_on_hard_inputs
from einderive.frontend.timed.trial import Trial, in_loops
from einderive.frontend.trial import choose, shifted
from einderive.frontend.trial.entrants import Entrant, candidate
from einderive.frontend.trial.hard import judge_of
from einderive.frontend.trial.shifted import Shifted, about_maxima
from tests.frontend.races import candidates_win, nobody_is_slow

X = (6, 20)
LOGARITHM = "Y[i] = log(sum[j](2*exp(X[i,j])))"
QUOTIENT = "Y[i,j] = exp(X[i,j]-1)/sum[k](exp(X[i,k]))"
ATTENTION = "Y[i,d] = sum[j](exp(X[i,j])*V[j,d])/sum[j](exp(X[i,j]))"
SHAPES: dict[str, Any] = {
    LOGARITHM: {"X": X},
    QUOTIENT: {"X": X},
    ATTENTION: {"X": X, "V": (20, 5)},
}
UNCHECKED = Report((Finding("step 1, exponential-shift", False, "not shown: for a test"),))


def is_right(function: CompiledFunction, text: str, dtype: str, mean: float = 1000.0) -> None:
    """It gives finite numbers with the type's digits, far beyond where exponentials end."""
    operands = [torch.randn(shape, dtype=torch.float64) for shape in SHAPES[text].values()]
    operands[0] += mean
    given = [operand.to(getattr(torch, dtype)) for operand in operands]
    x, *v = (operand.double() for operand in given)
    one = torch.ones((), dtype=torch.float64)
    expected = torch.softmax(x, 1) / one.exp()
    if text == LOGARITHM:
        expected = torch.logsumexp(x, 1) + (2 * one).log()
    elif v:
        expected = torch.softmax(x, 1) @ v[0]
    off = (function(*given).double() - expected).abs().max() / expected.abs().max()
    assert float(off) < 8 * torch.finfo(given[0].dtype).eps


def rules(function: CompiledFunction) -> list[str]:
    """The rules of the chosen program's steps."""
    plan = function.chosen.plan
    return [] if plan is None else [step.rule for step in plan.steps]


def refused_lines(function: CompiledFunction) -> Iterator[Trial]:
    return (t for t in function.trials if t.plan is None and "digits lost" in t.verdict)


@pytest.mark.parametrize("effort", ["normal", "instant"])
@pytest.mark.parametrize(
    ("text", "dtype"), [(LOGARITHM, "float32"), (QUOTIENT, "float64"), (LOGARITHM, "bfloat16")]
)
def test_what_is_compiled_is_right_where_every_line_overflows(
    text: str, dtype: str, effort: Any
) -> None:
    """Also where it is slower than the lines, as stage by stage."""
    function = ed.compile(text, dtypes=dtype, effort=effort, seconds=0.01, **SHAPES[text])
    assert EXPONENTIAL_SHIFT.name in rules(function)
    assert [*refused_lines(function)]
    assert not any(trial.verdict == "baseline" for trial in function.trials)
    is_right(function, text, dtype, 300.0 if dtype == "bfloat16" else 1000.0)


@pytest.mark.compiled
@pytest.mark.parametrize(("text", "dtype"), [(QUOTIENT, "float32"), (ATTENTION, "float64")])
def test_compiled_loops_are_chosen_that_are_right(text: str, dtype: str) -> None:
    function = ed.compile(text, dtypes=dtype, seconds=0.01, **SHAPES[text])
    assert in_loops(function.chosen.label)
    assert [*refused_lines(function)]
    is_right(function, text, dtype)


def test_without_a_derivation_that_checks_the_formula_is_judged_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Derivation, "check", lambda self, candidate=0: UNCHECKED)
    candidates_win(monkeypatch)
    function = ed.compile(LOGARITHM, X=X, seconds=0.01)
    assert EXPONENTIAL_SHIFT.name not in rules(function)
    assert not [*refused_lines(function)]
    assert any(trial.verdict == "baseline" for trial in function.trials)
    assert any("for a test" in trial.verdict for trial in function.trials)


@pytest.mark.parametrize("text", [LOGARITHM, "Y[i,j] = 2*X[i,j]"])
def test_a_candidate_that_is_missing_or_does_not_check_is_no_standard(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Derivation, "check", lambda self, candidate=0: UNCHECKED)
    derivation = ed.derive(text, X=X)
    last = Shifted(derivation, judge_of(derivation, "cpu", perf_counter()))
    found = last.tried(HardCases(derivation.source, "cpu", "normwise"))
    assert (found is not None) == (about_maxima(derivation) is not None) == (text == LOGARITHM)
    assert found is None or "for a test" in found.trial.verdict
    assert not [*last.after(())]


def test_it_is_built_and_checked_once_and_only_where_no_line_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built: list[str] = []
    asked: list[int] = []
    check = Derivation.check

    def noted(label: str, *args: Any, **options: Any) -> Entrant:
        built.append(label)
        return candidate(label, *args, **options)

    def counted(self: Derivation, candidate: int = 0) -> Report:
        asked.append(candidate)
        return check(self, candidate)

    monkeypatch.setattr(shifted, "candidate", noted)
    monkeypatch.setattr(Derivation, "check", counted)
    nobody_is_slow(monkeypatch)
    ed.compile("Y[i,j] = exp(X[i,j])/sum[k](exp(X[i,k]))", X=X, seconds=0.01)
    assert not built
    asked.clear()
    function = ed.compile(QUOTIENT, X=X, seconds=0.01)
    found = about_maxima(function.derivation)
    assert found is not None
    number, plan = found
    assert function.chosen.plan is plan
    assert built == [f"candidate {number}"]
    assert asked == [number - 1]


def test_it_stands_where_it_was_not_tried_and_all_others_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the number that it has in the derivation."""
    monkeypatch.setattr(
        choose,
        "worth_trying",
        lambda derivation, *_: [
            (number, plan)
            for number, plan in enumerate(derivation.candidates, 1)
            if all(step.rule != EXPONENTIAL_SHIFT.name for step in plan.steps)
        ],
    )
    monkeypatch.setattr(choose, "after_all", lambda *_: [])
    function = ed.compile(LOGARITHM, X=X, seconds=0.01)
    assert EXPONENTIAL_SHIFT.name in rules(function)
    number = function.derivation.candidates.index(function.chosen.plan) + 1
    assert function.chosen.label == f"candidate {number}"
    assert len(function.trials) > 2
    is_right(function, LOGARITHM, "float32")


def test_something_stands_where_all_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain program: the one stage by stage."""
    function = ed.derive(LOGARITHM, X=X).compile(tried=0, seconds=0.01)
    assert function.chosen.plan is None
    assert [*refused_lines(function)]
    monkeypatch.setattr(Shifted, "tried", lambda *_: None)
    monkeypatch.setattr(choose, "first_right", lambda *_: None)
    monkeypatch.setattr(choose, "fastest_candidate", lambda *_: (None, False))
    function = ed.compile(LOGARITHM, X=X, seconds=0.01)
    assert function.chosen is function.trials[-1]
    assert function.chosen.verdict == "baseline"
    x = torch.randn(X)
    torch.testing.assert_close(function(x), torch.logsumexp(x, 1) + float(torch.tensor(2.0).log()))


def test_the_benchmark_of_choices_keeps_no_program_that_overflows() -> None:
    derivation = ed.derive(LOGARITHM, X=X)
    judge = judge_of(derivation, "cpu", perf_counter())
    numbered = [*enumerate(derivation.candidates, 1)]
    trials = [candidate(f"candidate {n}", plan, judge).trial for n, plan in numbered]
    kept = [trial.label for trial in _right_on_hard_inputs(trials, derivation, derivation)]
    laws = [n for n, plan in numbered if "law" in [step.rule for step in plan.steps]]
    assert kept == [f"candidate {n}" for n in laws] != []


@pytest.mark.parametrize("shape", [(6, 20), (512, 1024), (3000, 1000)])
def test_the_first_candidate_about_the_maximum_has_it_outside_of_the_logarithm(
    shape: tuple[int, int],
) -> None:
    """Whatever else is predicted to be faster: inside of it, exp(1000) is infinite."""
    found = about_maxima(ed.derive(LOGARITHM, X=shape))
    assert found is not None
    assert [step.rule for step in found[1].steps][:2] == [EXPONENTIAL_SHIFT.name, "law"]


def test_it_is_right_componentwise() -> None:
    """On every family: where the formula on absolute values is NaN, no entry is judged."""
    derivation = ed.derive(QUOTIENT, X=X, accuracy="componentwise")
    last = Shifted(derivation, judge_of(derivation, "cpu", perf_counter()))
    assert last.entrant is not None
    assert last.entrant.run is not None
    hard = HardCases(derivation.source, "cpu", "componentwise", math.inf, lambda: last.after(()))
    errors = hard.errors(last.entrant.run, 99)
    assert len(errors) == len(FAMILIES)
    assert all(each.accepted for each in errors)
    assert not any(math.isnan(each.error) for each in errors)
