"""An operator that does the work of several stages is chosen by what it spares, and not alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import einderive as ed
from tests.frontend.races import nobody_is_slow


@pytest.fixture(autouse=True)
def at_any_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)


ATTENTION = (
    "S[b,i,j] = Q[b,i,d]*K[b,j,d]/8; M[b,i] = max[j](S[b,i,j]); E[b,i,j] = exp(S[b,i,j] - M[b,i]);"
    "P[b,i,j] = E[b,i,j]/sum[k](E[b,i,k]); Y[b,i,e] = P[b,i,j]*V[b,j,e]"
)
LARGE = {"Q": (16, 2048, 64), "K": (16, 2048, 64), "V": (16, 2048, 64)}
SMALL = {"Q": (2, 96, 16), "K": (2, 128, 16), "V": (2, 128, 24)}


def operators(derivation: ed.Derivation) -> list[tuple[str | None, ...]]:
    return [tuple(stage.operator for stage in plan.stages) for plan in derivation.candidates]


@pytest.mark.parametrize("target", ["cpu", "cuda:90"])
def test_attention_is_one_operator_and_its_stages_a_candidate(target: str) -> None:
    found = operators(ed.derive(ATTENTION, target=target, **LARGE))
    assert found[0] == ("attention",)
    assert ("matmul", "softmax", "matmul") in found
    assert any("attention" not in names and "softmax" not in names for names in found)


def test_a_saved_derivation_keeps_the_operators_of_each_candidate(tmp_path: Path) -> None:
    derivation = ed.derive(ATTENTION, target="cuda:90", **SMALL)
    path = tmp_path / "d.json"
    derivation.save(path)
    loaded = ed.load(path)
    assert operators(loaded) == operators(derivation)
    assert any("attention" in names for names in operators(loaded))
    for number in range(len(loaded.candidates)):
        report = loaded.check(number)
        assert report, str(report)


def test_the_operator_computes_the_formula() -> None:
    derivation = ed.derive(ATTENTION, **SMALL)
    function = derivation.compile(seconds=0.2)
    tried = [trial for trial in function.trials if "attention" in trial.words]
    assert tried, [trial.words for trial in function.trials]
    assert all(trial.verdict == "accepted" for trial in tried)
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in SMALL.values())
    scores = q @ k.transpose(0, 2, 1) / 8
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(function(Q=q, K=k, V=v), expected, rtol=2e-4, atol=2e-5)


def test_many_of_them_in_a_row() -> None:
    lines = ["X0[i,j] = A[i,j]"]
    for k in range(200):
        lines.append(f"M{k}[i] = max[j](X{k}[i,j]); E{k}[i,j] = exp(X{k}[i,j] - M{k}[i])")
        lines.append(f"X{k + 1}[i,j] = E{k}[i,j]/sum[k](E{k}[i,k])")
    text = "; ".join(lines)
    derivation = ed.derive(text, A=(4, 8), target="cuda:90", budget=ed.Budget(states=1))
    assert len(derivation.unchanged.stages) > 200
