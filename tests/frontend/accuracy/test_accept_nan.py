"""nan="strict": NaN and infinity stand where the formula has them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.accuracy.nonfinite_cases import moved, nonfinite_cases
from einderive.frontend.cli.main import main
from einderive.frontend.running.execute import executable
from einderive.ta.errors import BuildError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from tests.amount import sampled

STRICT: dict[str, tuple[str, dict[str, Any]]] = {
    "matmul": ("Y[i,j] = A[i,k]*B[k,j]", {"A": (6, 8), "B": (8, 5)}),
    "three factors": (
        "Y[i,e] = Q[i,d]*K[j,d]*V[j,e]",
        {"Q": (6, 4), "K": (5, 4), "V": (5, 3)},
    ),
    "distances": ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (6, 5), "B": (7, 5)}),
    "conv": (
        "Y[h,w,f] = A[h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:5, w in 0:5",
        {"A": (5, 5, 3), "K": (3, 3, 4, 3)},
    ),
    "box filter": (
        "Y[h,w] = sum[r,s](A[h+r-2,w+s-2]) where r in 0:5, s in 0:5, h in 0:8, w in 0:8",
        {"A": (8, 8)},
    ),
    "hoistable": ("Y[i] = sum[k](G[i]*X[i,k])", {"G": (30,), "X": (30, 4)}),
    "softmax": (
        "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); Y[i,j] = E[i,j]/sum[k](E[i,k])",
        {"X": (12, 40)},
    ),
}


def sprinkled(found: ed.Derivation, seed: int) -> dict[str, Any]:
    """Small numbers with infinities here and there, and NaN for half of the seeds."""
    generator = np.random.default_rng(seed)
    special = [math.inf, -math.inf] + [math.nan] * (seed // 2 % 2)
    values: dict[str, Any] = {}
    for tensor in found.source.inputs:
        plain = generator.choice([0.0, 1.0, -2.0], tensor.shape)
        hit = generator.random(tensor.shape) < (0.02, 0.1)[seed % 2]
        values[tensor.name] = np.where(hit, generator.choice(special, tensor.shape), plain)
    return values


def same_positions(got: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(got[np.isinf(wanted)], wanted[np.isinf(wanted)])
    assert np.isfinite(got[np.isfinite(wanted)]).all()


@sampled(4)
@pytest.mark.parametrize("name", STRICT)
def test_strict_programs_keep_nan_and_infinity(name: str) -> None:
    """Everywhere, against the interpreter, on inputs that acceptance has not seen."""
    text, shapes = STRICT[name]
    run = ed.compile(text, seconds=0.01, nan="strict", **shapes)
    assert run.chosen.verdict in ("baseline", "accepted")
    (root,) = run.derivation.source.roots()
    for seed in range(20):
        values = sprinkled(run.derivation, seed)
        wanted = evaluate(root, values, RealField())
        got = run(**{n: v.astype(np.float32) for n, v in values.items()})
        same_positions(got, wanted)


def test_a_program_that_moves_nan_is_noticed() -> None:
    """Hoisted, inf*(1 + 0) is inf; as written, inf*1 + inf*0 is NaN."""
    shapes: Any = {"G": (30,), "X": (30, 4)}
    given = ed.derive("Y[i] = sum[k](G[i]*X[i,k])", **shapes)
    hoisted = ed.derive("S[i] = X[i,k]; Y[i] = G[i]*S[i]", **shapes)
    cases = nonfinite_cases(given.source, "cpu")
    assert moved(given.source, cases, executable(hoisted.unchanged, "cpu")).startswith("infinities")


@sampled(4)
@pytest.mark.parametrize("name", STRICT)
def test_strict_derivations_are_equal_on_nan_too(name: str) -> None:
    """Every candidate, evaluated as it is written, beside the formula."""
    text, shapes = STRICT[name]
    found = ed.derive(text, nan="strict", budget=ed.Budget(states=1000), **shapes)
    (root,) = found.source.roots()
    for plan in found.candidates:
        assert all(step.keeps_nonfinite() for step in plan.steps)
        for seed in range(10):
            values = sprinkled(found, seed)
            wanted, got = (evaluate(r, values, RealField()) for r in (root, plan.roots[0]))
            same_positions(got, wanted)


def test_no_program_that_keeps_nan_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("einderive.frontend.trial.entrants.moved", lambda *_: "NaN")
    with pytest.raises(BuildError, match='nan="ignore"'):
        ed.compile("Y[i] = A[i,k]", nan="strict", A=(3, 4))


def test_the_command_line_takes_both_options(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["derive", "Y[i,j] = (A[i,k]-B[j,k])^2", "A=9,8", "B=7,8", "--json"]
    assert main([*words, "--nan", "strict", "--accuracy", "componentwise", "--run"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["nan"], data["accuracy"]) == ("strict", "componentwise")
    rules = {step["rule"] for plan in data["candidates"] for step in plan["steps"]}
    assert not rules & {"expand", "distribute"}
    assert not any(trial["steps_that_can_cancel"] for trial in data["measured"]["trials"])
    assert main([*words, "--nan", "keep"]) == 2
