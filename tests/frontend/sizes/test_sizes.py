"""One compiled function at sizes that it was not compiled for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from runpy import run_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.baselines import rival
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.bench.sizes import FORMULAS, measured
from einderive.frontend.sizes import remade
from einderive.frontend.sizes.family import Family
from einderive.frontend.sizes.remade import _run
from einderive.ta.errors import OperandError, RangeError
from tests.amount import one_in
from tests.frontend.races import candidates_win

RNG = np.random.default_rng(0)
DISTANCES = "Y[i,j] = (A[i,k] - B[j,k])^2"


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


def nobody_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a search")

    monkeypatch.setattr(CompiledFunction, "_searched", refuse)


def chosen_rules(f: Any) -> list[str]:
    return [step.rule for step in f.chosen.plan.steps if not step.witness.folds]


def distances(a: Any, b: Any) -> Any:
    return ((a[:, None] - b) ** 2).sum(2)


def test_the_chosen_derivation_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    budget = ed.Budget(states=300)
    f = ed.compile(DISTANCES, A=("n", 20), B=(400, 20), n=500, budget=budget, remember=False)
    assert f.chosen.plan is not None
    assert f.chosen.plan.steps
    nobody_searches(monkeypatch)
    for n in (410, 510):
        a, b = drawn(n, 20), drawn(400, 20)
        np.testing.assert_allclose(f(a, b), distances(a, b), rtol=1e-5, atol=1e-5)
        other = f._sizes._known[(("n", n),)]
        assert other.chosen.plan is not None
        assert chosen_rules(other) == chosen_rules(f)
        assert other.derivation.check()
        assert other.derivation.source.inputs[0].shape == (n, 20)


def test_a_plain_program_is_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ed.compile(
        "Y[i,o] = relu(sum[k](X[i,k]*W[o,k]) + c[o])",
        X=("b", 7),
        W=(5, 7),
        c=(5,),
        b=4,
        budget=ed.Budget(states=1),
        remember=False,
    )
    nobody_searches(monkeypatch)
    for b in (9, 1, 400):
        x, w, c = drawn(b, 7), drawn(5, 7), drawn(5)
        np.testing.assert_allclose(f(x, w, c), np.maximum(x @ w.T + c, 0), rtol=1e-5, atol=1e-5)


def test_of_the_plain_programs_none_is_written_beyond_the_one_that_was_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "Y[i,o] = relu(sum[k](X[i,k]*W[o,k]))"
    at = lambda b: ed.parse(text, X=(b, 7), W=(5, 7))  # noqa: E731
    every = rivals(at(4), "cpu")
    assert len(every) > 2
    given, written = [0], rival._written

    def counted(*arguments: Any) -> Any:
        given[0] += 1
        return written(*arguments)

    monkeypatch.setattr(rival, "_written", counted)
    for place, wanted in enumerate(every[:2], 1):
        chosen = SimpleNamespace(words=wanted.words, text=wanted.text, label="baseline")
        known: Any = SimpleNamespace(
            derivation=SimpleNamespace(nan="loose"), device="cpu", chosen=chosen
        )
        given[0] = 0
        assert _run(known, at(9), None, checked=True, timed=True) is not None
        assert given[0] == place


def test_a_plain_program_that_would_be_written_otherwise_is_taken_as_it_is() -> None:
    """Of three factors, others are multiplied first where the sizes are small."""
    text = "Y[i,e] = Q[i,d]*K[j,d]*V[j,e]"
    at = lambda n: ed.parse(text, Q=(n, 64), K=(n, 64), V=(n, 64))  # noqa: E731
    words = ("matmul pair by pair",)
    large, small = (
        next(one.text for one in rivals(at(n), "cpu") if one.words == words) for n in (128, 8)
    )
    assert large != small
    known: Any = SimpleNamespace(
        derivation=SimpleNamespace(nan="loose"),
        device="cpu",
        chosen=SimpleNamespace(words=words, text=large, label="baseline"),
    )
    program = at(8)
    run = _run(known, program, None, checked=True, timed=True)
    assert run is not None
    q, k, v = values = [torch.randn(8, 64) for _ in range(3)]
    (found,) = run(dict(zip(program.inputs, values, strict=True)))
    torch.testing.assert_close(found, q @ k.T @ v, rtol=1e-4, atol=1e-3)


def test_a_text_that_names_a_size_is_refused_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here none is written again, and the text has the first size in it."""
    f = ed.compile(
        "Y[i] = x[i]*y[i+1] where i in 0:n-1",
        x=("n",),
        y=("n",),
        n=6,
        budget=ed.Budget(states=1),
        effort="instant",
        remember=False,
    )
    monkeypatch.setattr(remade, "one_by_one", lambda *_: iter(()))
    for n in (9, 4):
        x, y = drawn(n), drawn(n)
        np.testing.assert_allclose(f(x, y), x[:-1] * y[1:], rtol=1e-6)


CASES: list[tuple[str, dict[str, Any], Callable[..., Any], list[tuple[int, ...]]]] = [
    ("Y[i] = x[i+1] - x[i] where i in 0:n-1", {"x": ("n",), "n": 9}, np.diff, [(2,), (1,), (30,)]),
    (
        "Y[i,j] = softmax[j](X[i,j])",
        {"X": ("n", "m"), "n": 8, "m": 8},
        lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True),
        [(3, 5), (1, 8), (0, 4), (8, 1)],
    ),
    ("Y[i,j] = X[j,i] + X[i,j]", {"X": ("n", "n"), "n": 4}, lambda x: x.T + x, [(1, 1), (7, 7)]),
    ("Y[i] = sum[k](X[i,k])/size(k)", {"X": (3, "k2"), "k2": 4}, lambda x: x.mean(1), [(3, 11)]),
]


@pytest.mark.parametrize(("text", "given", "line", "shapes"), CASES)
def test_other_sizes(
    text: str, given: dict[str, Any], line: Callable[..., Any], shapes: list[tuple[int, ...]]
) -> None:
    """Also 0 and 1, and names that were equal at first."""
    f = ed.compile(text, budget=ed.Budget(states=50), remember=False, **given)
    for shape in shapes:
        x = drawn(*shape)
        np.testing.assert_allclose(f(x), line(x), rtol=1e-5, atol=1e-6)


def test_a_size_that_is_known_is_answered_by_its_flat_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    f = ed.compile("Y[i] = 2*x[i]", x=("n",), n=4, budget=ed.Budget(states=1), remember=False)
    x = drawn(6)
    f(x)
    f(x)
    monkeypatch.setattr(Family, "at", None)
    np.testing.assert_array_equal(f(x), 2 * x)


def test_what_no_derivation_gives_is_searched_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ed.compile("Y[i] = 2*x[i]", x=("n",), n=4, budget=ed.Budget(states=1), remember=False)
    monkeypatch.setattr(CompiledFunction, "_remade", lambda *_: None)
    x = drawn(5)
    np.testing.assert_array_equal(f(x), 2 * x)
    assert f.searches == 2


def test_other_element_types(monkeypatch: pytest.MonkeyPatch) -> None:
    f = ed.compile("Y[i] = 2*x[i]", x=("n",), n=4, budget=ed.Budget(states=1), remember=False)
    nobody_searches(monkeypatch)
    assert f(drawn(6).astype("float64")).dtype == np.float64
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0]


def test_errors() -> None:
    f = ed.compile("Y[i,j] = A[i,k]*B[k,j]", A=("n", "k2"), B=("k2", 3), n=2, k2=4, remember=False)
    with pytest.raises(OperandError, match="the size k2 is 5 in A and 6 in B"):
        f(drawn(2, 5), drawn(6, 3))
    with pytest.raises(OperandError, match=r"B has shape 4 x 2, .* for k2 x 3") as error:
        f(drawn(2, 4), drawn(4, 2))
    assert "pass an array of shape k2 x 3" in str(error.value)
    with pytest.raises(OperandError, match="sizes: A: n x k2 float32, B: k2 x 3 float32"):
        f(drawn(2, 4))
    g = ed.compile("Y[i] = x[i+2] where i in 0:n-2", x=("n",), n=5, remember=False)
    assert g(drawn(2)).shape == (0,)
    with pytest.raises(RangeError, match="ends before it begins"):
        g(drawn(1))


@pytest.mark.parametrize("number", one_in(10, range(len(FORMULAS))))
def test_formulas_at_random_sizes(number: int, seed: int) -> None:
    found = measured(FORMULAS[number], 4, seed)
    assert found.error < 1e-4
    assert len(found.new) >= 2


@pytest.mark.filterwarnings("ignore")  # the module is loaded before it is run
def test_the_measurement_runs_as_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["sizes", "--formulas", "0"])
    with pytest.raises(SystemExit) as ended:
        run_module("einderive.frontend.bench.sizes", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("formula")
