"""What is accepted on random and on hard inputs, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.derivations.steps.centre import Centre
from einderive.frontend.accuracy.accept import error
from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.accuracy.inputs.chosen import hard_families
from einderive.frontend.accuracy.inputs.families import FAMILIES
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.levels import cancelling, magnitude
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.running.execute import Executable, executable
from einderive.ta.errors import RecordError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.printing.show import show
from tests.amount import first, sampled
from tests.frontend.derived import DISTANCES, derived
from tests.frontend.races import candidates_win

SIZES: dict[str, Any] = {"A": (48, 40), "B": (48, 40)}
LINES: dict[str, Any] = dict.fromkeys("BZC", (3000,))


@pytest.fixture(autouse=True)
def all_families(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every family is tried, however slow the machine is."""
    monkeypatch.setattr("einderive.frontend.accuracy.hard_cases.PREPARING_SECONDS", inf)
    monkeypatch.setattr("einderive.frontend.trial.choose.HardCases", unhurried)


def unhurried(*args: Any, **options: Any) -> HardCases:
    return HardCases(*args, **{**options, "preparing": inf})


def quickly(text: str, **options: Any) -> CompiledFunction:
    return ed.compile(text, seconds=0.01, **options)


def built(found: ed.Derivation, plan: Plan | None = None) -> Executable:
    """The plan, or the program as given, on the CPU."""
    return executable(plan or found.unchanged, "cpu")


DIFFERENCE = "T[i] = B[i]-Z[i]; Y[i] = T[i]+C[i]"
EXPANDED = (
    "N[i] = A[i,k]^2; M[j] = B[j,k]^2; D[i,j] = N[i] + M[j] - 2*sum[k](A[i,k]*B[j,k]); Y[i,j] = {}"
)


def hard_errors(text: str, given: str, **shapes: Any) -> dict[str, FamilyError]:
    """The errors on all hard inputs of the second text's program, as if it were the first one's."""
    none = ed.Budget(states=1)
    found, other = (derived(each, budget=none, **shapes) for each in (text, given))
    cases = unhurried(found.source, "cpu", "fast")
    return {e.family: e for e in cases.errors(built(other), len(FAMILIES))}


OFFSETS = ("a mean of 1000 and a deviation of 1", "a large common offset", "equal entries")


def test_expanded_distances_lose_digits_where_there_is_an_offset_only() -> None:
    errors = hard_errors(DISTANCES, EXPANDED.format("D[i,j]"), **SIZES)
    assert len(errors) == len(FAMILIES)
    for name in OFFSETS[:2]:
        offset = errors[name]
        assert not offset.accepted
        assert 5 < offset.digits < 7
        assert offset.error > 1e5 * offset.written
    others = [found for name, found in errors.items() if name not in OFFSETS]
    assert all(found.accepted and found.digits < 1 for found in others)


@sampled(6)
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i,j] = (A[i,k]-B[j,k])^4", {"A": (30, 8), "B": (40, 8)}),
        ("Y[i,j] = (A[i,k]-B[j,k])*C[i,k]", {"A": (30, 8), "B": (40, 8), "C": (30, 8)}),
        ("Y[i,j] = (A[i,k]-B[j,k])*(C[i,k]-D[j,k])", dict.fromkeys("ABCD", (40, 8))),
    ],
)
def test_one_far_row_shows_what_a_mean_loses(text: str, shapes: dict[str, Any]) -> None:
    """One far row moves the mean: all other rows then cancel."""
    found = derived(text, **shapes)
    plans = [p for p in found.candidates if any(isinstance(s.witness, Centre) for s in p.steps)]
    cases = unhurried(found.source, "cpu", "fast")  # which tries all families
    errors = [each for p in plans for each in cases.errors(built(found, p), len(FAMILIES))]
    assert max(each.digits for each in errors if "one row far" in each.family) > 2
    given = unhurried(found.source, "cpu", "normwise").errors(built(found), 99)
    assert len(given) == len(hard_families(found.source))
    assert all(each.accepted for each in given)


def test_a_template_that_matches_shows_what_a_mean_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The image and the template have a step each; where these meet, the result is small."""
    (halves,) = [family for family in FAMILIES if family.name == "two halves at +-1000"]
    monkeypatch.setattr("einderive.frontend.accuracy.hard_cases.hard_families", lambda _: (halves,))
    text = "Y[h,w] = (A[h+r,w+s]-T[r,s])^2 where h in 0:241, w in 0:241"
    found = ed.derive(text, A=(256, 256), T=(16, 16), budget=ed.Budget(states=4000))
    rules = {"centre", "expand"}
    plan = next(p for p in found.candidates if rules <= {step.rule for step in p.steps})
    cases = unhurried(found.source, "cpu", "normwise")
    (centred,) = cases.errors(built(found, plan), 1, small=True)
    (given,) = cases.errors(built(found), 1, small=True)
    assert not centred.accepted
    assert centred.digits > 3
    assert given.accepted


def plain_loss(text: str, a: torch.Tensor, b: torch.Tensor) -> float:
    """Digits that the matrix-product form of a kernel loses in the user's hands: whole outputs, in
    NumPy and torch alone."""

    def expanded(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * (a @ b.T)

    def plain(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ((a[:, None] - b) ** 2).sum(-1)

    last = (lambda d: torch.exp(-d / 64)) if "exp" in text else (lambda d: d)
    wanted = last(plain(a.double(), b.double()))
    off, base = (
        float((last(f(a, b)).double() - wanted).abs().max() / wanted.abs().max())
        for f in (expanded, plain)
    )
    return float(np.log10(off / max(base, torch.finfo(a.dtype).eps)))


@pytest.mark.parametrize("last", first(1, ["D[i,j]", "exp(-D[i,j]/64)"]))
def test_the_digits_lost_are_those_that_a_user_then_sees(last: str) -> None:
    """A distance and a Gaussian kernel of 64 features, on data of mean 1000 and deviation 1."""
    text = f"D[i,j] = (A[i,k]-B[j,k])^2; Y[i,j] = {last}"
    errors = hard_errors(text, EXPANDED.format(last), A=(200, 64), B=(200, 64))
    generator = torch.Generator().manual_seed(5)
    a, b = (1000 + torch.randn(200, 64, generator=generator) for _ in "ab")
    seen = plain_loss(last, a, b)
    assert seen > 3
    assert abs(errors[OFFSETS[0]].digits - seen) < 1
    assert max(found.digits for found in errors.values()) > seen - 1


def test_the_digits_lost_are_those_of_the_steps() -> None:
    found = derived(DIFFERENCE, **dict.fromkeys("BZC", (300,)))
    plan = next(p for p in found.candidates if cancelling(p.steps))
    cases = HardCases(found.source, "cpu", "fast")
    errors = cases.errors(built(found, plan), 99)
    ((step, lost),) = cases.step_digits(plan.steps, errors)
    assert step == "1 (merge-stage)"
    assert lost > 4
    assert abs(lost - max(e.digits for e in errors)) < 1
    assert cases.step_digits((), cases.errors(built(found), 99)) == ()


def test_another_order_of_summation_is_accepted_on_all_hard_inputs() -> None:
    text = "Y[b,i,e] = Q[b,i,d]*K[b,j,d]*V[b,j,e]"
    given = "S[b,i,j] = Q[b,i,d]*K[b,j,d]; Y[b,i,e] = S[b,i,j]*V[b,j,e]"
    errors = hard_errors(text, given, Q=(2, 40, 8), K=(2, 40, 8), V=(2, 40, 8))
    assert len(errors) == len(FAMILIES)
    assert all(found.accepted and found.digits <= 1 for found in errors.values())
    assert errors["nearly opposite neighbours"].error > 1e-4


def test_a_program_that_loses_digits_without_a_step_that_says_so_is_refused() -> None:
    """The expanded form given as if it were the plain one."""
    given = ed.derive("Y[i] = sum[k]((A[i,k]-B[i,k])^2)", A=(30, 40), B=(30, 40))
    expanded = ed.derive(
        "Y[i] = sum[k](A[i,k]^2) - 2*A[i,k]*B[i,k] + sum[k](B[i,k]^2)", A=(30, 40), B=(30, 40)
    )
    cases = HardCases(given.source, "cpu", "normwise")
    *_, offset = cases.errors(built(expanded), 1)
    assert offset.family == OFFSETS[0]
    assert offset.error > 0.01
    assert not offset.accepted
    assert "digits lost on inputs with a mean of 1000" in offset.refusal


def test_the_chosen_program_reports_its_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    run = Derivation.compile(ed.derive(DIFFERENCE, accuracy="fast", **LINES))
    assert run.chosen.label == "candidate 1"
    assert run.chosen.verdict == "accepted"
    assert run.error == run.chosen.error
    assert {family.family for family in run.chosen.families} >= {f.name for f in FAMILIES}
    assert run.chosen.cancelling == ("1 (merge-stage)",)
    assert run.chosen.digits_lost > 4
    text = " ".join(str(run).split())
    assert "digits were lost on inputs with large, nearly equal tensors beside small ones" in text
    assert "it may lose digits: " in text
    assert " by step 1 (merge-" in text


def test_by_default_what_loses_digits_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    run = Derivation.compile(ed.derive(DIFFERENCE, **LINES))
    first = next(trial for trial in run.trials if trial.cancelling)
    assert first.verdict.startswith("refused: ")
    assert "digits lost on inputs with large, nearly equal tensors" in first.verdict
    assert run.chosen.digits_lost <= 1
    assert "it may lose digits" not in str(run)


@pytest.mark.parametrize("sign", [0, 1])
def test_by_default_distances_keep_their_digits(sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Called on normal data first, then on an offset, and on two clusters."""
    candidates_win(monkeypatch)
    run = Derivation.compile(derived(DISTANCES, **SIZES))
    generator = torch.Generator().manual_seed(4)
    for size in (0, 1000, 0, 1000):
        signs = (2 * torch.randint(0, 2, (48, 1), generator=generator) - 1) ** sign
        a, b = (size * signs + torch.randn(48, 40, generator=generator) for _ in "AB")
        wanted = ((a.double()[:, None] - b.double()) ** 2).sum(-1)
        assert float((run(a, b) - wanted).abs().max() / wanted.max()) < 1e-6


def test_what_fails_on_hard_inputs_gives_way_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    bad = FamilyError("a large common offset", 1.0, 1e-7, 7.0, accepted=False)
    monkeypatch.setattr(HardCases, "errors", lambda *_, **__: (bad,))
    run = quickly("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", A=(40, 50), B=(50, 60), C=(60, 3))
    assert run.chosen.plan is None
    candidates = [trial for trial in run.trials if trial.plan is not None]
    assert len(candidates) > 1
    for trial in candidates:
        assert trial.families
        assert "on inputs with a large common offset" in trial.verdict


def test_digits_lost_are_those_of_the_result_where_it_is_small_beside_its_terms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A variance, componentwise: its terms are 10^6 times larger, and so is what |f| allows."""
    found = ed.derive(
        "M[i] = sum[k](A[i,k])/5; Y[i] = sum[k]((A[i,k]-M[i])^2)/5",
        A=(600, 5),
        accuracy="componentwise",
    )
    direct = built(found)
    *before, last = direct.runs
    imprecise = replace(direct, runs=(*before, lambda buffers: last(buffers) * (1 + 1e-4)))
    cases = HardCases(found.source, "cpu", found.accuracy)
    monkeypatch.setattr(
        "einderive.frontend.accuracy.hard_cases.hard_families", lambda _: (FAMILIES[1],)
    )
    (same,) = cases.errors(direct, 99)
    (off,) = cases.errors(imprecise, 99)
    assert same.family == off.family == OFFSETS[0]
    assert off.error < 1.2e-7
    assert off.accepted
    assert 2 < off.digits < 4
    assert same.digits < 0.5


def test_componentwise_leaves_out_what_can_cancel() -> None:
    found = derived(DISTANCES, accuracy="componentwise", **SIZES)
    for plan in found.candidates:
        assert not {step.rule for step in plan.steps} & {"expand", "distribute"}
    run = Derivation.compile(found, seconds=0.01)
    assert not any(trial.cancelling for trial in run.trials)
    timed = [trial for trial in run.trials if not trial.verdict.startswith("left out")]
    assert timed
    assert all(trial.error < 1e-5 for trial in timed)
    assert "|f| the formula on absolute values" in " ".join(str(run).split())


def test_the_componentwise_error_sees_a_small_entry() -> None:
    wanted = torch.tensor([1.0, 1e-4], dtype=torch.float64)
    got = torch.tensor([1.0, 2e-4], dtype=torch.float32)
    assert error([got], [wanted]) == pytest.approx(1e-4, rel=1e-3)
    assert error([got], [wanted], [wanted.abs()]) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "shapes", "size"),
    [
        ("Y[i] = A[i,k]*x[k]", {"A": (3, 4), "x": (4,)}, lambda A, x: abs(A) @ abs(x)),
        (
            "Y[i] = sum[k]((A[i,k] - x[k])^2)",
            {"A": (3, 4), "x": (4,)},
            lambda A, x: ((A - x) ** 2).sum(1),
        ),
        (
            "Y[i] = A[i,j] - sum[k](A[i,k]*x[k]) where j in 1:2",
            {"A": (3, 4), "x": (4,)},
            lambda A, x: abs(A[:, 1]) + abs(A) @ abs(x),
        ),
        (
            "Y[i] = sum[k](exp(-A[i,k]*x[k]))",
            {"A": (3, 4), "x": (4,)},
            lambda A, x: np.exp(-A * x).sum(1),
        ),
        ("Y[i] = max[k](A[i,k]*x[k])", {"A": (3, 4), "x": (4,)}, lambda A, x: abs(A * x).max(1)),
        ("Y[i] = sum[k](relu(-2*A[i,k])/x[k])", {"A": (3, 4), "x": (4,)}, None),
    ],
)
def test_the_magnitude_of_a_formula(text: str, shapes: Any, size: Any) -> None:
    program = ed.parse(text, **shapes)
    generator = np.random.default_rng(0)
    values = {name: generator.standard_normal(shape) for name, shape in shapes.items()}
    (root,) = program.roots()
    found = evaluate(magnitude(root), values, RealField())
    assert (found >= abs(evaluate(root, values, RealField())) - 1e-12).all(), show(root)
    if size is not None:
        np.testing.assert_allclose(found, size(**values))


@pytest.mark.parametrize("option", [{"accuracy": "exact"}, {"nan": "keep"}, {"nan": None}])
def test_unknown_options_are_one_error(option: Any) -> None:
    with pytest.raises(ed.EinderiveError, match="use "):
        ed.derive("Y[i] = A[i,k]", A=(3, 4), **option)


def test_options_are_kept_in_the_record(tmp_path: Any) -> None:
    found = ed.derive(DISTANCES, accuracy="componentwise", nan="strict", **SIZES)
    found.save(tmp_path / "d.json")
    loaded = ed.load(tmp_path / "d.json")
    assert (loaded.accuracy, loaded.nan) == ("componentwise", "strict")
    data = json.loads((tmp_path / "d.json").read_text())
    assert data["version"] == 3
    text = (tmp_path / "d.json").read_text().replace('"strict"', '"lax"')
    (tmp_path / "e.json").write_text(text)
    with pytest.raises(RecordError, match="nan cannot be 'lax'"):
        ed.load(tmp_path / "e.json")


@pytest.mark.parametrize(
    ("before", "now"), [("normwise", "fast"), ("componentwise", "componentwise")]
)
def test_a_record_of_before_says_fast_where_it_says_normwise(
    tmp_path: Any, before: Any, now: str
) -> None:
    found = derived(DISTANCES, accuracy=before, **SIZES)
    found.save(tmp_path / "d.json")
    assert ed.load(tmp_path / "d.json").accuracy == before
    data = json.loads((tmp_path / "d.json").read_text()) | {"version": 2}
    del data["input"]["outputs"]
    (tmp_path / "e.json").write_text(json.dumps(data))
    loaded = ed.load(tmp_path / "e.json")
    assert loaded.accuracy == now
    assert loaded.check()
    (tmp_path / "f.json").write_text(json.dumps(data | {"accuracy": "fast"}))
    with pytest.raises(RecordError, match="accuracy cannot be"):
        ed.load(tmp_path / "f.json")
