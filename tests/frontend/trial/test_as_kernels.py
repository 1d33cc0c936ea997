"""On a GPU, the formula as given in generated kernels alone is one of the programs that race."""

from __future__ import annotations

import json
from time import perf_counter

import pytest

import einderive as ed
from einderive.eops.back_ends.triton import TRITON
from einderive.frontend.derived import Derived
from einderive.frontend.timed.trial import AS_GIVEN, Trial
from einderive.frontend.trial.as_kernels import worth_generating
from einderive.frontend.trial.compiling import compile_for_other_sizes
from einderive.frontend.trial.effort import EFFORTS, of_seconds
from einderive.frontend.trial.entrants import Entrant, Judge
from einderive.frontend.trial.hard import judge_of
from tests.frontend import as_kernels_runner
from tests.prepared import interpreted

FEW_CHANNELS = "Y[n,h,w,f] = A[n,h+r-2,w+s-2,c]*K[r,s,f,c] where h in 0:24, w in 0:24"
SHAPES = {"A": (2, 24, 24, 32), "K": (5, 5, 1, 32)}


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, object]]:
    lines = interpreted(as_kernels_runner.__file__).splitlines()
    return {record["formula"]: record for record in map(json.loads, lines)}


@pytest.mark.parametrize("formula", as_kernels_runner.FORMULAS)
def test_kernels_compute_what_operators_would(
    formula: str, told: dict[str, dict[str, object]]
) -> None:
    record = told[formula]
    words, error = record["words"], record["error"]
    assert isinstance(words, list)
    assert isinstance(error, float)
    assert TRITON.word in words
    assert {*words} <= {TRITON.word, "view", "gather"}
    assert error < 1e-6


def test_one_kernel_computes_stages_over_the_same_rows(told: dict[str, dict[str, object]]) -> None:
    assert told["softmax"]["words"] == [TRITON.word]


def on_a_gpu(derivation: Derived) -> Judge:
    """A judge that takes this machine for one with a GPU; nothing runs there."""
    judge = judge_of(derivation, "cpu", perf_counter(), effort=of_seconds(3))
    judge.device = "cuda"
    return judge


def plain(seconds: float, *words: str) -> Entrant:
    return Entrant(Trial("baseline", None, words, seconds, 0.0, "baseline"), run=lambda inputs: ())  # type: ignore[arg-type]


def test_the_formula_in_kernels_enters_the_race() -> None:
    derivation = ed.derive(FEW_CHANNELS, target="cuda:90", budget=ed.Budget(states=1), **SHAPES)
    judge = on_a_gpu(derivation)
    ((label, plan),) = worth_generating(derivation, [plain(1e-3, "conv2d")], judge)
    assert label == AS_GIVEN
    assert plan.roots == derivation.source.roots()
    assert judge.built(plan, compiled=True).words == (TRITON.word,)


def test_it_stays_out_where_it_is_predicted_to_be_far_behind() -> None:
    derivation = ed.derive(FEW_CHANNELS, target="cuda:90", budget=ed.Budget(states=1), **SHAPES)
    assert not [*worth_generating(derivation, [plain(1e-9, "conv2d")], on_a_gpu(derivation))]


def test_it_stays_out_where_a_candidate_is_the_same_program() -> None:
    derivation = ed.derive(
        "Y[i,j] = A[i,j]*exp(A[i,j])", target="cuda:90", budget=ed.Budget(states=1), A=(9, 8)
    )
    judge, plan = on_a_gpu(derivation), derivation.unchanged
    assert [*worth_generating(derivation, [], judge)]
    trial = Trial("candidate 1", plan, (TRITON.word,), 1e-3, 0.0, "accepted")
    same = Entrant(trial, run=lambda inputs: ())  # type: ignore[arg-type]
    assert not [*worth_generating(derivation, [same], judge)]


def test_without_triton_the_other_programs_race(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object, **options: object) -> None:
        raise ImportError("no module named triton")

    derivation = ed.derive(FEW_CHANNELS, target="cuda:90", budget=ed.Budget(states=1), **SHAPES)
    judge = on_a_gpu(derivation)
    assert [*worth_generating(derivation, [plain(1e-3, "conv2d")], judge)]
    monkeypatch.setattr(Judge, "built", fails)
    assert not [*worth_generating(derivation, [plain(1e-3, "conv2d")], judge)]


def test_a_cpu_has_loops_instead() -> None:
    derivation = ed.derive(FEW_CHANNELS, budget=ed.Budget(states=1), **SHAPES)
    judge = judge_of(derivation, "cpu", perf_counter(), effort=of_seconds(3))
    assert not [*worth_generating(derivation, [plain(1.0, "conv2d")], judge)]


def test_kernels_for_other_sizes_are_compiled_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    derivation = ed.derive(
        "Y[i] = 2*A[i]", target="cuda:90", budget=ed.Budget(states=1), A=("n",), n=9
    )
    judge = on_a_gpu(derivation)
    assert judge.program.sizes
    built: list[dict[str, object]] = []
    monkeypatch.setattr(Judge, "built", lambda *given, **options: built.append(options))
    for label, compiled in ((AS_GIVEN, True), ("candidate 1", False)):
        trial = Trial(label, derivation.unchanged, (TRITON.word,), 1e-3, 0.0, "accepted")
        compile_for_other_sizes(Entrant(trial), judge)
        assert built.pop() == {"compiled": compiled, "open_sizes": True, "wide": False}
    plain_program = Trial("baseline", None, ("mul",), 1e-3, 0.0, "accepted")
    compile_for_other_sizes(Entrant(plain_program), judge)
    judge.effort = EFFORTS["instant"]
    compile_for_other_sizes(Entrant(trial), judge)
    assert not built
