"""A plain program compiled by Inductor, as one more plain program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.baselines import inductor as module
from einderive.frontend.baselines.inductor import WORD, available, inductor, original
from einderive.frontend.baselines.rival import Rival, rivals
from einderive.frontend.trial import choose, entrants
from tests.frontend.races import nobody_is_slow

TEXT = "Y[i] = sum[j](exp(A[i,j]))*B[i]"
SHAPES: dict[str, Any] = {"A": (30, 40), "B": (30,)}


def plain() -> Rival:
    return rivals(ed.parse(TEXT, **SHAPES), "cpu")[0]


def wanted(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.exp().sum(1) * b


def counted(monkeypatch: pytest.MonkeyPatch, wrong: Exception | None = None) -> list[int]:
    """In place of the compiler: it notes calls, or fails."""
    calls: list[int] = []

    def compile(run: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        def call(*tensors: torch.Tensor) -> Any:
            calls.append(1)
            if wrong is not None:
                raise wrong
            return run(*tensors)

        return call

    monkeypatch.setattr(torch, "compile", compile)
    monkeypatch.setattr(module, "available", lambda device: True)
    monkeypatch.setattr(entrants, "available", lambda device: True)
    return calls


def test_where_the_compiler_fails_the_plain_program_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = counted(monkeypatch, RuntimeError("no compiler"))
    rival, guarded = inductor(plain())
    a, b = torch.randn(30, 40), torch.randn(30)
    for _ in range(2):
        torch.testing.assert_close(rival.call(a, b), wanted(a, b))
    assert len(calls) == 1  # it is asked once
    assert guarded.failure == "no compiler"
    assert original(rival.words) == plain().words
    assert original(plain().words) is None


@pytest.mark.inductor
def test_it_is_one_more_baseline_with_much_effort(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chosen, remembered, and recalled in its compiled form."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    nobody_is_slow(monkeypatch)
    calls = counted(monkeypatch)

    def first_of_all(found: Any, *_: Any) -> Any:
        return next(e for e in found if e.trial.words[:1] == (WORD,)), None

    monkeypatch.setattr(choose, "fastest_plain", lambda found, *_: first_of_all(found)[0])
    monkeypatch.setattr(choose, "fastest_candidate", lambda *_: (None, False))
    options: Any = {"budget": ed.Budget(states=20), "seconds": 0.01}
    f = ed.compile(TEXT, **SHAPES, **options, effort="high")
    compiled = [trial for trial in f.trials if trial.words[:1] == (WORD,)]
    assert [trial.verdict for trial in compiled] == ["baseline"]
    assert f.chosen is compiled[0]
    a, b = torch.randn(30, 40), torch.randn(30)
    before = len(calls)
    for _ in range(3):
        torch.testing.assert_close(f(a, b), wanted(a, b))
        a = a + 1  # no result is kept
    assert len(calls) == before + 3
    again = ed.compile(TEXT, **SHAPES, **options, effort="high")
    assert again.remembered
    assert again.chosen.words == f.chosen.words
    torch.testing.assert_close(again(a, b), wanted(a, b))
    assert len(calls) == before + 4
    json.dumps(again.text)


@pytest.mark.inductor
def test_a_compiler_that_fails_is_no_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)
    counted(monkeypatch, RuntimeError("no compiler"))
    f = ed.compile(TEXT, **SHAPES, seconds=0.01, budget=ed.Budget(states=20), effort="high")
    compiled = [trial for trial in f.trials if trial.words[:1] == (WORD,)]
    assert [trial.verdict for trial in compiled] == ["not built: no compiler"]


@pytest.mark.inductor
@pytest.mark.parametrize("options", [{"effort": 5.0}, {"effort": "high", "memory": "1GB"}])
def test_otherwise_it_is_not_asked(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counted(monkeypatch)
    ed.compile(TEXT, **SHAPES, **options, seconds=0.01, budget=ed.Budget(states=20))
    assert not calls


@pytest.mark.campaign
@pytest.mark.inductor
@pytest.mark.skipif(not available("cpu"), reason="no C++ compiler")
def test_the_compiler_itself() -> None:
    rival, guarded = inductor(plain())
    a, b = torch.randn(30, 40), torch.randn(30)
    torch.testing.assert_close(rival.call(a, b), wanted(a, b))
    assert not guarded.failure
