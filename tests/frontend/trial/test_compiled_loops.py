"""Programs whose stages are compiled loops enter the race, are judged, and can be chosen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.derivations.rules.exponential_shift import EXPONENTIAL_SHIFT
from einderive.eops.back_ends.cpu_kernels import CPU_KERNELS
from einderive.frontend.running.execute import executable
from einderive.frontend.timed.timing import Timing
from einderive.frontend.timed.trial import AS_GIVEN, IN_LOOPS, Trial
from einderive.frontend.trial import choose, compiling
from einderive.frontend.trial.compiling import (
    after_all,
    apart,
    compiled_candidate,
    loading_seconds,
    with_products,
    worth_compiling,
)
from einderive.frontend.trial.effort import NORMAL, of_seconds
from einderive.frontend.trial.entrants import Entrant, Judge, candidate
from einderive.frontend.trial.hard import judge_of
from tests.amount import sampled
from tests.frontend.races import candidates_win, nobody_is_slow

CHAIN = "Y[i,j] = (X[i,j]*w[j] + X[i,j])/(1 + w[j]*w[j]) - X[i,j]"
SHAPES = {"X": (40, 30), "w": (30,)}
UNCHANGED = ed.Budget(states=1)
"""Where the program as given is what is compiled."""


def test_a_stage_as_loops() -> None:
    found = ed.derive(CHAIN, budget=UNCHANGED, **SHAPES)
    built = executable(found.unchanged, "cpu", compiled=True)
    assert built.words == (CPU_KERNELS.word,)
    x, w = torch.rand(40, 30), torch.rand(30)
    (y,) = built(dict(zip(found.source.inputs, (x, w), strict=True)))
    torch.testing.assert_close(y, (x * w + x) / (1 + w * w) - x)


@pytest.mark.compiled
def test_compile_tries_them(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)
    f = ed.compile(CHAIN, **SHAPES)
    tried = {trial.label: trial for trial in f.trials}
    assert tried[AS_GIVEN].verdict == "accepted"
    assert tried[AS_GIVEN].words == (CPU_KERNELS.word,)


@pytest.mark.compiled
def test_a_chosen_one_gives_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """Called with torch and NumPy operands, dense and not, in both precisions."""
    candidates_win(monkeypatch)
    f = ed.derive(CHAIN, budget=UNCHANGED, **SHAPES).compile(seconds=0.01, tried=0)
    assert CPU_KERNELS.word in f.chosen.words
    x, w = torch.rand(30, 40).T, torch.rand(60)[::2]
    expected = (x * w + x) / (1 + w * w) - x
    for _ in range(3):  # recorded, replayed
        torch.testing.assert_close(f(X=x, w=w), expected)
        torch.testing.assert_close(f(X=x.contiguous(), w=w.contiguous()), expected)
    np.testing.assert_allclose(f(X=x.numpy(), w=w.numpy()), expected.numpy(), rtol=1e-5, atol=1e-6)
    wide = f(X=x.double(), w=w.double())
    torch.testing.assert_close(wide, (x.double() * w.double() + x) / (1 + w.double() ** 2) - x)


@pytest.mark.compiled
def test_loops_that_take_far_too_long_are_not_tried() -> None:
    """Two products in one statement: 2*10^10 steps, where products of two take 10^8."""
    n = 360
    f = ed.compile("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", A=(n, n), B=(n, n), C=(n, n))
    assert not any("compiled" in trial.label for trial in f.trials)


def test_what_multiplies_matrices_stays_with_torch() -> None:
    found = ed.derive("Y[i,j] = A[i,k]*B[k,j]", A=(300, 300), B=(300, 300))
    assert executable(found.unchanged, "cpu", compiled=True).words == ("matmul",)


TOGETHER = {
    "softmax": ("Y[i,j] = softmax[j](X[i,j])", lambda x: [x.softmax(1)]),
    "layer norm": (
        "M[i] = mean[j](X[i,j]); C[i,j] = X[i,j] - M[i]; V[i] = mean[j](C[i,j]^2); "
        "S[i] = rsqrt(V[i] + 1e-5); Y[i,j] = C[i,j]*S[i]",
        lambda x: [torch.nn.functional.layer_norm(x, x.shape[1:])],
    ),
    "two outputs": (
        "out Y[i] = sum[j](X[i,j]); out Z[i,j] = X[i,j]/Y[i]",
        lambda x: [x.sum(1), x / x.sum(1, keepdim=True)],
    ),
    "two totals": (
        "Y[i] = sum[j](X[i,j]); Z[i] = max[j](X[i,j])",
        lambda x: [x.sum(1), x.amax(1)],
    ),
    "columns": (
        "M[j] = mean[i](X[i,j]); V[j] = mean[i]((X[i,j]-M[j])^2); "
        "Y[i,j] = (X[i,j]-M[j])*rsqrt(V[j])",
        lambda x: [(x - x.mean(0)) / x.std(0, correction=0)],
    ),
    "a window of what was computed": (
        "T[i,j] = X[i,j]^2 + 1; Y[i,j] = T[i,j-1] + T[i,j]",
        lambda x: [x**2 + 1 + torch.nn.functional.pad(x**2 + 1, (1, 0))[:, :-1]],
    ),
    "beside a product of matrices": (
        "P[i,j] = X[i,k]*X[j,k]; Y[i,j] = softmax[j](P[i,j])",
        lambda x: [(x @ x.T).softmax(1)],
    ),
}


@sampled(4)
@pytest.mark.parametrize("name", TOGETHER)
def test_stages_over_the_same_rows_are_one_kernel(name: str) -> None:
    text, expected = TOGETHER[name]
    x = torch.rand(230, 200)
    found = ed.derive(text, budget=UNCHANGED, X=x)
    built = executable(apart(found.unchanged), "cpu", compiled=True)
    kernels = [word for word in built.words if word == CPU_KERNELS.word]
    assert len(kernels) == 1, built.words
    assert len(built.words) == 1 + ("matrices" in name)
    (tensor,) = found.source.inputs
    for _ in range(2):
        for result, wanted in zip(built({tensor: x}), expected(x), strict=True):
            torch.testing.assert_close(result, wanted, rtol=1e-4, atol=1e-5)
    halves = built({tensor: x.half()})  # stage by stage, as other types are
    torch.testing.assert_close(halves[0], expected(x.half())[0], rtol=2e-2, atol=2e-2)


def test_slices_of_unequal_width_beside_loops() -> None:
    text = (
        "out Q[i,j] = X[i,j] where j in 0:20; out K[i,j] = X[i,j+20] where j in 0:10; "
        "out Z[i,j] = exp(X[i,j])"
    )
    found = ed.derive(text, budget=UNCHANGED, X=(40, 30))
    built = executable(found.unchanged, "cpu", compiled=True)
    assert CPU_KERNELS.word in built.words
    x = torch.randn(40, 30)
    (tensor,) = found.source.inputs
    for result, wanted in zip(built({tensor: x}), (x[:, :20], x[:, 20:], x.exp()), strict=True):
        torch.testing.assert_close(result, wanted)


@pytest.mark.compiled
def test_compile_tries_softmax_as_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    f = ed.derive("Y[i,j] = softmax[j](X[i,j])", X=(40, 30)).compile(seconds=0.01, tried=0)
    tried = {trial.label: trial for trial in f.trials}
    assert tried[AS_GIVEN].verdict == "accepted"
    assert tried[AS_GIVEN].words == (CPU_KERNELS.word,)
    assert f.chosen.label == AS_GIVEN
    x = torch.rand(40, 30)
    for _ in range(3):
        torch.testing.assert_close(f(x), x.softmax(1))


def test_what_is_slow_stage_by_stage_may_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A candidate that is right and far behind by calls of torch is compiled all the same."""
    derivation = ed.derive("Y[i] = X[i]^6/X[i]^4", X=(400_000,))
    judge = judge_of(derivation, "cpu", perf_counter())
    judge.effort = of_seconds(600.0)
    monkeypatch.setattr(Judge, "far_behind", lambda *_: True)
    numbered = enumerate(derivation.candidates, 1)
    slow = [candidate(f"candidate {k}", plan, judge) for k, plan in numbered]
    assert slow
    assert all(entrant.slow and entrant.run is None for entrant in slow)
    labels = [label for label, _ in worth_compiling(derivation, slow, judge)]
    own = derivation.unchanged.roots
    others = [e.trial for e in slow if e.trial.plan is not None and e.trial.plan.roots != own]
    assert others
    assert {f"{trial.label}, compiled" for trial in others} & set(labels)


@pytest.mark.parametrize(
    ("left", "slow", "tried"), [(0.5, 1.0, True), (0.5, 1e-9, False), (0.2, 1.0, True)]
)
def test_what_is_predicted_to_be_far_faster_is_compiled_late(
    monkeypatch: pytest.MonkeyPatch, left: float, slow: float, tried: bool
) -> None:
    """Where no time is left for the others."""
    derivation = ed.derive("Y[i] = X[i]^6/X[i]^4", X=(400_000,))
    judge = judge_of(derivation, "cpu", perf_counter())
    monkeypatch.setattr(Judge, "left", property(lambda judge: left))
    entrant = Entrant(Trial("candidate 1", None, (), slow, 0.0, "accepted"), run=lambda inputs: ())  # type: ignore[arg-type]
    assert left < judge.racing
    labels = [label for label, _ in worth_compiling(derivation, [entrant], judge)]
    assert any(label.startswith("candidate") for label in labels) is tried


@pytest.mark.parametrize(("times", "tried"), [(3.9, True), (4.1, False)])
def test_the_formula_is_compiled_late_where_it_may_be_as_fast(
    monkeypatch: pytest.MonkeyPatch, times: float, tried: bool
) -> None:
    """By a prediction, which is for slow memory."""
    derivation = ed.derive("Y[i] = X[i]^6/X[i]^4", X=(400_000,))
    judge = judge_of(derivation, "cpu", perf_counter())
    monkeypatch.setattr(Judge, "left", property(lambda judge: 0.0))
    monkeypatch.setattr("einderive.frontend.trial.compiling.as_loops", lambda plan: times * 1e-6)
    fast = Entrant(Trial("baseline", None, (), 1e-6, 0.0, "baseline"), run=lambda inputs: ())  # type: ignore[arg-type]
    labels = [label for label, _ in worth_compiling(derivation, [fast], judge)]
    assert (AS_GIVEN in labels) is tried


@pytest.mark.compiled
def test_the_formula_in_loops_enters_where_faster_programs_are_refused() -> None:
    """It was far behind them, and is not behind what is left."""
    text = "D[i,k] = 2*G[i,j]*(X[i,k] - Z[j,k])"
    derivation = ed.derive(text, X=(40, 30), Z=(40, 30), G=(40, 40), budget=UNCHANGED)
    judge = judge_of(derivation, "cpu", perf_counter())
    fast = Entrant(Trial("candidate 1", None, (), 1e-9, 0.0, "accepted"), run=lambda inputs: ())  # type: ignore[arg-type]
    assert not [*worth_compiling(derivation, [fast], judge)]
    assert not after_all(derivation, [fast], judge)
    slow = Entrant(Trial("baseline", None, (), 1.0, 0.0, "baseline"), run=lambda inputs: ())  # type: ignore[arg-type]
    entrants = [fast.out("refused"), slow]
    (found,) = after_all(derivation, entrants, judge)
    assert found.trial.label == AS_GIVEN
    assert found.run is not None
    assert found.trial.words == (CPU_KERNELS.word,)
    assert found.trial.error < 1e-5
    assert not after_all(derivation, [*entrants, found], judge)
    elsewhere = replace(derivation, target="cuda:90")
    assert not after_all(elsewhere, entrants, judge)


@pytest.mark.compiled
def test_a_program_about_the_maximum_enters_where_the_formula_is_refused() -> None:
    derivation = ed.derive("Y[i] = log(sum[k](exp(X[i,k])))", X=(400, 50))
    judge = judge_of(derivation, "cpu", perf_counter())
    slow = Entrant(Trial("baseline", None, (), 1.0, 0.0, "baseline"), run=lambda inputs: ())  # type: ignore[arg-type]
    labels = [label for label, _ in worth_compiling(derivation, [slow], judge)]
    assert len(set(labels)) == len(labels)
    shifted = labels[1]
    given = Entrant(Trial(AS_GIVEN, None, (), 1e-9, 0.0, "accepted"), run=lambda inputs: ())  # type: ignore[arg-type]
    assert not after_all(derivation, [slow, given], judge)
    entrants = [slow, given.out("refused")]
    (found,) = after_all(derivation, entrants, judge)
    assert found.trial.label == shifted
    assert found.trial.plan is not None
    assert EXPONENTIAL_SHIFT.name in [step.rule for step in found.trial.plan.steps]
    assert not after_all(derivation, [*entrants, found], judge)


@pytest.mark.compiled
def test_loading_the_compiler_is_told_once() -> None:
    derivation = ed.derive(CHAIN, budget=UNCHANGED, **SHAPES)
    assert loading_seconds(derivation) >= 0
    assert "einderive.eops.cpu_kernels.build" in sys.modules
    assert loading_seconds(replace(derivation, target="cuda:90")) == 0


def test_a_product_of_matrices_stays_with_the_library_where_that_is_faster() -> None:
    """Also one with few products for each entry, which a loop would compute."""
    words = {}
    for n in (4, 600):
        found = ed.derive("T[i,j] = A[i,j]+1; Y[i,o] = T[i,j]*X[j,o]", A=(n, n), X=(n, 48))
        words[n] = executable(found.unchanged, "cpu", compiled=True).words
    assert "matmul" not in words[4]
    assert words[600] == (CPU_KERNELS.word, "matmul")


@pytest.mark.compiled
@pytest.mark.parametrize("named", [False, True])
def test_quotients_by_what_a_row_has_in_common_are_tried_as_products(
    monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """Of all loops, those with reciprocals are the last candidate; here they win."""
    nobody_is_slow(monkeypatch)
    found: list[str] = []

    def last(entrants: Sequence[Entrant], *_: Any) -> tuple[list[Entrant], bool]:
        found.extend(entrant.trial.label for entrant in entrants if entrant.run is not None)
        chosen = [replace(each, timing=Timing(1.0, 0.0, (1.0,) * 4)) for each in entrants[:-1]]
        best = replace(entrants[-1], timing=Timing(0.1, 0.0, (0.1,) * 4))
        return [*chosen, best], False

    monkeypatch.setattr("einderive.frontend.trial.compiling.PROMISING", 0.0)  # also of slow loops
    monkeypatch.setattr("einderive.frontend.trial.choose.raced", last)
    monkeypatch.setattr("einderive.frontend.trial.winner.wins_again", lambda *_: True)
    text = "Y[i,j] = X[i,j]/sum[k](abs(X[i,k]))"
    rows = {"n": 70} if named else {}
    derivation = ed.derive(text, budget=UNCHANGED, X=("n" if named else 70, 40), **rows)
    f = derivation.compile(remember=False)
    assert f.chosen.plan is not None
    assert f.chosen.label == found[-1] == f"candidate {len(f.derivation.candidates)}{IN_LOOPS}"
    assert "materialise" in {step.rule for step in f.chosen.plan.steps}
    assert CPU_KERNELS.word in f.chosen.words
    for rows_now in (70, 33) if named else (70,):
        x = torch.randn(rows_now, 40)
        torch.testing.assert_close(f(x), x / x.abs().sum(1, keepdim=True))


def test_without_quotients_there_is_no_other_candidate() -> None:
    derivation = ed.derive("Y[i,j] = X[i,j]*w[j]", budget=UNCHANGED, **SHAPES)
    judge = judge_of(derivation, "cpu", perf_counter())
    entrants = [compiled_candidate(AS_GIVEN, derivation.unchanged, judge)]
    assert entrants[0].run is not None
    assert with_products(derivation, entrants, judge) == (derivation, [])


def test_a_candidate_that_divides_once_already_is_compiled_as_it_is() -> None:
    text = "Y[i,j] = X[i,j]/sum[k](abs(X[i,k]))"
    derivation = ed.derive(text, budget=UNCHANGED, X=(70, 40))
    judge = judge_of(derivation, "cpu", perf_counter())
    entrants = [compiled_candidate(AS_GIVEN, derivation.unchanged, judge)]
    more, found = with_products(derivation, entrants, judge)
    assert [entrant.trial.label for entrant in found] == [f"candidate 2{IN_LOOPS}"]
    again, same = with_products(more, entrants, judge)
    assert again is more
    assert [entrant.trial.label for entrant in same] == [f"candidate 2{IN_LOOPS}"]
    assert with_products(more, [*entrants, *found], judge) == (more, [])


@pytest.mark.compiled
def test_an_interruption_while_other_sizes_are_compiled_keeps_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    candidates_win(monkeypatch)
    monkeypatch.setattr("einderive.frontend.trial.choose.compile_for_other_sizes", interrupted)
    f = ed.compile(CHAIN, X=("n", 30), w=(30,), n=40, remember=False)
    assert f.interrupted
    x, w = torch.rand(40, 30), torch.rand(30)
    torch.testing.assert_close(f(x, w), (x * w + x) / (1 + w * w) - x)


@pytest.mark.compiled
@pytest.mark.parametrize("slow", [True, False])
def test_beside_slow_lines_loops_come_first(slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula is compiled once, the fastest plain program is judged, and is the baseline."""
    monkeypatch.setattr(compiling, "FAR_FASTER", 0.0 if slow else inf)
    monkeypatch.setattr(compiling, "PROMISING", inf)
    made: list[str] = []
    usual = compiling.compiled_candidate

    def noted(label: str, *given: Any) -> Entrant:
        made.append(label)
        return usual(label, *given)

    monkeypatch.setattr(compiling, "compiled_candidate", noted)
    monkeypatch.setattr(choose, "compiled_candidate", noted)
    x = torch.randn(40, 50)
    effort = replace(NORMAL, before=0.0)
    f = ed.compile("Y[i] = max[j](X[i,j]^2 + 3)", X=x, effort=effort, remember=False)
    assert made.count(AS_GIVEN) == (1 if slow else 2)
    assert [trial.label for trial in f.trials].count(AS_GIVEN) == 1
    plain = [trial for trial in f.trials if trial.verdict == "baseline"]
    assert len(plain) == 1
    assert isfinite(plain[0].error)
    torch.testing.assert_close(f(x), (x.square() + 3).amax(1))


@pytest.mark.parametrize(("seconds", "tried"), [(10.0, True), (1e-6, False)])
def test_what_is_predicted_to_be_far_faster_is_compiled_in_any_case(
    seconds: float, tried: bool
) -> None:
    """Rows of a table that are added: one loop, though no time is left."""
    shapes = {"I": (5000, 8), "E": (100, 64)}
    types = {"I": "int64", "E": "float32"}
    derivation = ed.derive("Y[b,d] = sum[k](E[I[b,k],d])", dtypes=types, **shapes)
    judge = judge_of(derivation, "cpu", 0.0, effort=replace(NORMAL, altogether=1e-9))
    judge.fastest = seconds
    run = executable(derivation.unchanged, "cpu")
    entrants = [Entrant(Trial("baseline", None, (), seconds, 0.0, "baseline"), run=run)]
    found = [label for label, _ in worth_compiling(derivation, entrants, judge)]
    assert any(label.startswith("candidate") for label in found) is tried
    assert len(found) <= 1 + compiling.MOST_HOPES
