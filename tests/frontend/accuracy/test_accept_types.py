"""Element types: accepted programs are as exact as the direct one in each of them."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower_all
from einderive.frontend.accuracy.accept import accepted, error
from einderive.frontend.accuracy.inputs.drawn import random_inputs
from einderive.frontend.accuracy.levels import ACCURACIES
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.running.execute import executable
from tests.amount import one_in, sampled
from tests.frontend.races import nobody_is_slow

FEW = ed.Budget(states=200)
FLOATS = ("float64", "float32", "float16", "bfloat16")
TABLE: dict[str, tuple[str, dict[str, Any]]] = {
    "matmul": ("Y[i,j] = A[i,k]*B[k,j]", {"A": (20, 64), "B": (64, 24)}),
    "chain": ("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", {"A": (16, 16), "B": (16, 32), "C": (32, 2)}),
    "conv": (
        "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:9, w in 0:8",
        {"A": (1, 8, 9, 8), "K": (4, 8, 3, 3)},
    ),
    "sum of 100000": ("Y[i] = A[i,k]", {"A": (2, 100_000)}),
    "mean": ("Y[i] = A[i,k]/4096", {"A": (3, 4096)}),
    "softmax": (
        "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); Y[i,j] = E[i,j]/sum[k](E[i,k])",
        {"X": (12, 40)},
    ),
    "distances": ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (20, 24), "B": (22, 24)}),
    "elementwise": ("Y[i] = tanh(2*A[i] + 1)*sigmoid(A[i]) + A[i]^2", {"A": (500,)}),
}


@sampled(8)
@pytest.mark.parametrize(("name", "dtype"), one_in(3, product(TABLE, FLOATS)))
def test_accepted_programs_are_as_exact_as_the_direct_one(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged anew, on other inputs than those of acceptance, by its own kernels."""
    nobody_is_slow(monkeypatch)
    text, shapes = TABLE[name]
    run = ed.compile(text, seconds=0.01, dtypes=dtype, target="cpu", budget=FEW, **shapes)
    eps = torch.finfo(getattr(torch, dtype)).eps
    assert run.baseline.error < 40 * eps
    source = run.derivation.source
    inputs = random_inputs(source.inputs, "cpu", seed=5)
    wide = {tensor: value.to(torch.float64) for tensor, value in inputs.items()}
    wanted = [lower_all(root)(wide) for root in source.roots()]
    for trial in run.trials:
        if trial.plan is None:
            continue
        overflows = "error inf" in trial.verdict
        if trial.verdict.startswith("refused: ") and (trial.cancelling or overflows):
            continue  # on hard inputs: its digits, or a sum of halves before a mean
        assert trial.verdict == "accepted", (trial, [s.rule for s in trial.plan.steps])
        assert trial.words
        outputs = executable(trial.plan, "cpu")(inputs)
        assert all(output.dtype == getattr(torch, dtype) for output in outputs)
        assert error(outputs, wanted) <= 20 * run.baseline.error + 32 * eps


def test_overflow_that_the_direct_program_does_not_have_is_refused() -> None:
    """x*x overflows in float16 from 256 on, x*x/65536 does not where float32 is used within."""
    direct = ed.derive("Y[i] = (A[i] - B[i])^2", dtypes="float16", A=(9,), B=(9,))
    text = "P[i] = A[i]^2; Q[i] = A[i]*B[i]; R[i] = B[i]^2; Y[i] = P[i] - 2*Q[i] + R[i]"
    staged = ed.derive(text, dtypes="float16", A=(9,), B=(9,))
    inputs = {t: torch.full((9,), 300.0, dtype=torch.float16) for t in direct.source.inputs}
    inputs[direct.source.inputs[1]] += 1
    wanted = [torch.ones(9, dtype=torch.float64)]

    def off(found: ed.Derivation) -> float:
        return error(stage_by_stage(found.source, (torch.float16,))(inputs), wanted)

    assert off(direct) < 1e-3
    assert off(staged) == math.inf
    assert not accepted(off(staged), off(direct), 1e-3)


def test_subnormal_outputs_are_judged_by_their_spacing() -> None:
    tiny = torch.finfo(torch.float16).tiny
    wanted = torch.tensor([tiny / 100, tiny / 300], dtype=torch.float64)
    rounded = wanted.to(torch.float16)
    assert 0 < error([rounded], [wanted]) <= torch.finfo(torch.float16).eps
    assert error([torch.zeros(2, dtype=torch.float16)], [wanted]) < 0.02
    assert error([torch.full((2,), tiny, dtype=torch.float16)], [wanted]) > 0.9


@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize("dtype", ["complex64", "int32", "bool"])
def test_other_element_types_have_no_hard_inputs(dtype: str, accuracy: Any) -> None:
    run = ed.compile(
        "Y[i,l] = A[i,j]*B[j,l]", dtypes=dtype, accuracy=accuracy, seconds=0.01, A=(9, 7), B=(7, 5)
    )
    assert all(
        trial.verdict in ("baseline", "accepted") or "slower on its first run" in trial.verdict
        for trial in run.trials
    )
    assert not any(trial.families for trial in run.trials)
