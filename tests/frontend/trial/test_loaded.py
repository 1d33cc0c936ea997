"""A derivation that was read from a file is compiled as the one that was saved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pytest
import torch

import einderive as ed
from einderive.frontend.derived import Derived
from einderive.frontend.export.module import write
from einderive.frontend.timed.trial import AS_GIVEN
from einderive.frontend.trial.compiling import apart, compiled_candidate, with_products
from einderive.frontend.trial.entrants import Entrant, Judge
from einderive.frontend.trial.hard import checked, judge_of
from tests.frontend.export.test_export import alone
from tests.frontend.races import candidates_win, nobody_is_slow

QUOTIENTS: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "softmax": ("Y[i,j] = softmax[j](X[i,j])", lambda x: x.softmax(1)),
    "row normalisation": (
        "Y[i,j] = X[i,j]/sum[k](abs(X[i,k]))",
        lambda x: x / x.abs().sum(1, keepdim=True),
    ),
    "mean and variance": (
        "M[i] = mean[j](X[i,j]); V[i] = mean[j]((X[i,j]-M[i])^2); "
        "out Y[i,j] = (X[i,j]-M[i])/sqrt(V[i]+1)",
        lambda x: (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, correction=0) + 1).sqrt(),
    ),
}


def saved_and_loaded(derivation: Derived, path: Path) -> ed.Derivation:
    derivation.save(path)
    return ed.load(path)


def with_last(derivation: ed.Derivation) -> tuple[Derived, Entrant, Judge]:
    """The derivation with the products that `compile` tries in place of quotients, compiled, and
    the judge of its programs."""
    judge = judge_of(derivation, "cpu", perf_counter())
    given = compiled_candidate(AS_GIVEN, apart(derivation.unchanged), judge)
    more, (last,) = with_products(derivation, [given], judge)
    return more, last, judge


@pytest.mark.parametrize("name", QUOTIENTS)
def test_products_in_place_of_quotients_of_a_record(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No record states the candidate that is added; its steps are checked all the same, it is
    exported, and the next record states it too."""
    nobody_is_slow(monkeypatch)
    text, expected = QUOTIENTS[name]
    found = ed.derive(text, budget=ed.Budget(states=1), X=(70, 40))
    more, last, judge = with_last(saved_and_loaded(found, tmp_path / "first.json"))
    number = len(more.candidates) - 1
    assert number == len(more.stated)
    assert last.trial.plan is more.candidates[number]
    assert last.trial.plan.steps
    assert checked(last, more, judge) is last
    assert more.check(number)
    shorter = replace(last.trial.plan, steps=last.trial.plan.steps[:-1])
    assert not replace(more, candidates=(*more.candidates[:-1], shorter)).check(number)

    x = torch.randn(70, 40)
    assert last.run is not None
    (y,) = last.run({more.source.inputs[0]: x})
    torch.testing.assert_close(y, expected(x), rtol=1e-5, atol=1e-6)
    files = write(more.source, last.run, "cpu", tmp_path / "out", last.trial.label)
    assert any(file.suffix == ".ll" for file in files)
    done = alone(tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("right\n")

    again = saved_and_loaded(more, tmp_path / "again.json")
    assert len(again.stated) == len(again.candidates) == number + 1
    assert again.candidates[number].roots == last.trial.plan.roots
    assert again.check(number)


def test_what_a_record_states_of_its_own_candidates_is_checked(tmp_path: Path) -> None:
    text, _ = QUOTIENTS["row normalisation"]
    loaded = saved_and_loaded(
        ed.derive(text, budget=ed.Budget(states=1), X=(7, 4)), tmp_path / "d.json"
    )
    (stated,) = loaded.stated
    other = replace(loaded, stated=(stated._replace(program="Y[i,j] = X[i,j]"),))
    assert loaded.check(0)
    assert not other.check(0)
    assert not replace(loaded, stated=(stated._replace(claims=()),)).check(0)


@pytest.mark.compiled
def test_a_loaded_softmax_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However fast the loops of the formula as given are, they are tried with products."""
    candidates_win(monkeypatch)
    monkeypatch.setattr("einderive.frontend.trial.compiling.PROMISING", 0.0)
    monkeypatch.setattr(
        "einderive.frontend.trial.choose.worth_compiling",
        lambda derivation, *_: iter([(AS_GIVEN, apart(derivation.unchanged))]),
    )
    text, expected = QUOTIENTS["softmax"]
    loaded = saved_and_loaded(
        ed.derive(text, budget=ed.Budget(states=1), X=(40, 30)), tmp_path / "d.json"
    )
    f = loaded.compile(seconds=0.01, tried=0, remember=False)
    assert len(f.derivation.candidates) == len(loaded.candidates) + 1
    x = torch.randn(40, 30)
    torch.testing.assert_close(f(x), expected(x))
    f.derivation.save(tmp_path / "again.json")
    assert ed.load(tmp_path / "again.json").check(len(loaded.candidates))
