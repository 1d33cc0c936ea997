"""Whole programs: reducers at ties and zeros, statements, second derivatives, random programs."""

from __future__ import annotations

import re
from random import Random
from typing import Any, Final

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.program import Program, Statement
from tests.amount import first, sampled
from tests.fuzz.generator import program as drawn
from tests.ta.gradients.autograd import gradients
from tests.ta.gradients.test_reads import agrees, example

PROGRAMS: Final[list[tuple[str, dict[str, Any], str]]] = [
    (
        "Y[i] = max[k](A[i,k])",
        {"A": (3, 4)},
        "dA[i,k] = where(A[i,k] == Y[i], dY[i]/sum[j](A[i,j] == Y[i]), 0)",
    ),
    ("Y[i] = prod[k](A[i,k])", {"A": (3, 4)}, "prod[j](where(k == j, 1, A[i,j]))*dY[i]"),
    ("Y[i,k] = softmax[k](A[i,k])", {"A": (3, 4)}, ""),
    (
        "Y[i] = logsumexp[k](A[i,k])",
        {"A": (3, 4)},
        "dA[i,k] = T2[i]*exp(A[i,k] - finite(T1[i]))",
    ),
    ("Y[i] = norm[k](A[i,k])", {"A": (3, 4)}, "dA[i,k] = 2*A[i,k]*T2[i]"),
    ("Y[i] = var[k](A[i,k], ddof=1)", {"A": (3, 4)}, ""),
    ("Y[i] = std[k](A[i,k])", {"A": (3, 4)}, ""),
    ("Y[i] = mean[k](A[i,k])", {"A": (3, 4)}, "dA[i,k] = dY[i]/4"),
    ("Y[i] = where(A[i] > 0, log(A[i]), A[i]^3)", {"A": (5,)}, "3*A[i]^2*dY[i])"),
    ("Y[i] = relu(sum[k](A[i,k]*x[k]) + b[i])", {"A": (3, 4), "x": (4,), "b": (3,)}, ""),
    ("Y[h] = max[r](A{fill=-inf}[2*h+r-1]) where h in 0:4, r in 0:3", {"A": (8,)}, ""),
    (
        "T[i] = A[i]*B[i]; out U[i] = exp(T[i]); Y[i] = U[i]*T[i]",
        {"A": (4,), "B": (4,)},
        "dA[i] = B[i]*dT[i]",
    ),
    ("out T[i] = 2*A[i]; Y[i] = 2*A[i]", {"A": (4,)}, ""),
    ("Y[i,j] = where(j <= i, A[i,j], -inf); Z[i,j] = softmax[j](Y[i,j])", {"A": (4, 4)}, ""),
    ("Y[i] = sum[j](where(j <= i, x[j], 0))", {"x": (5,)}, ""),
    (
        "S[i,j] = Q[i,d]*K[j,d]; Y[i,e] = softmax[j](S[i,j]/2)*V[j,e]",
        {"Q": (3, 2), "K": (4, 2), "V": (4, 3)},
        "dQ[i,d] = K[j,d]*dS[i,j]",
    ),
]


@sampled(4)
@pytest.mark.parametrize(("text", "shapes", "shown"), PROGRAMS)
def test_programs(text: str, shapes: dict[str, Any], shown: str) -> None:
    program = ed.parse(text, dtypes="float64", **shapes)
    found = ed.grad(program)
    assert shown in str(found)
    assert agrees(program, example(program)) == []
    assert found.check().kind == ed.jvp(program).check().kind == "evaluated"


SPECIAL: Final[list[tuple[str, list[list[float]]]]] = [
    ("Y[i] = max[k](A[i,k])", [[1, 2, 2], [3, 3, 3]]),
    ("Y[i] = min[k](A[i,k])", [[1, 2, 1], [0, 0, 3]]),
    ("Y[i] = prod[k](A[i,k])", [[0, 2, 3], [0, 0, 3]]),
    ("Y[i] = sum[k](maximum(A[i,k], 1))", [[0, 1, 3], [1, 1, 3]]),
    ("Y[i] = sum[k](relu(A[i,k])*abs(A[i,k]))", [[0, -1, 3], [1, 0, 3]]),
    ("Y[i,k] = softmax[k](A[i,k])", [[2, 2, 1], [700, -700, 0]]),
    ("Y[i] = logsumexp[k](A[i,k])", [[2, 2, 1], [900, 900, 0]]),
]


@pytest.mark.parametrize(("text", "entries"), SPECIAL)
def test_ties_kinks_and_zeros_are_torchs(text: str, entries: list[list[float]]) -> None:
    program = ed.parse(text, A=(2, 3), dtypes="float64")
    assert agrees(program, {"A": torch.tensor(entries, dtype=torch.float64)}) == []


@pytest.mark.parametrize("text", ["Y[i] = norm[k](A[i,k])", "Y[i] = std[k](A[i,k])"])
def test_a_norm_of_0_has_the_gradient_0(text: str) -> None:
    found = ed.grad(text, A=(2, 3), dtypes="float64")
    values = {"A": np.array([[0.0, 0, 0], [3, 0, 4]]), "dY": np.ones(2)}
    slope = evaluate(found.roots()[0], values, RealField())
    assert slope[0].tolist() == [0, 0, 0]
    norm = torch.tensor(values["A"], requires_grad=True)
    result = torch.linalg.vector_norm(norm, dim=1) if "norm" in text else norm.std(1, correction=0)
    result.sum().backward()
    assert norm.grad is not None
    np.testing.assert_allclose(slope, norm.grad.numpy(), atol=1e-15)


def test_a_branch_that_is_not_taken_does_not_count() -> None:
    """torch gives NaN here: 0 times the infinite derivative of the other branch."""
    found = ed.grad("Y[i] = where(A[i] > 0, sqrt(A[i]), 0)", A=(2,), dtypes="float64")
    values = {"A": np.array([0.0, 4.0]), "dY": np.ones(2)}
    assert evaluate(found.roots()[0], values, RealField()).tolist() == [0, 0.25]


@pytest.mark.parametrize(
    "text", ["y = sum[i](exp(A[i])*A[i]^2)", "y = prod[i](A[i])", "y = logsumexp[i](A[i])"]
)
def test_second_derivatives_are_gradients_of_gradients(text: str) -> None:
    program = ed.parse(text, A=(4,), dtypes="float64")
    once = ed.grad(program, cotangent=1)
    twice = ed.grad(once)
    assert twice.operands == {"ddA": "dA"}
    assert twice.check()
    values = example(program)
    direction = torch.tensor([1.0, -2, 0.5, 3], dtype=torch.float64)
    expected = gradients(once, values, ["A"], [direction])["A"]
    given = {"A": values["A"].numpy(), "ddA": direction.numpy()}
    np.testing.assert_allclose(
        evaluate(twice.roots()[0], given, RealField()), expected.numpy(), rtol=1e-9
    )


def as_program(seed: int) -> Program:
    roots = drawn(Random(seed))
    outputs = tuple(
        Statement(name, root, tuple("abcdefghijk"[: len(root.loops)]))
        for name, root in zip(("Out", "Out2"), roots, strict=False)
    )
    return Program(input_tensors(*roots), outputs, output_names=tuple(s.name for s in outputs))


@pytest.mark.parametrize("seed", first(6, range(150)))
def test_random_programs(seed: int) -> None:
    program = as_program(seed)
    try:
        found = ed.grad(program)
    except ed.EinderiveError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert re.search("0 everywhere|floating-point type|has no derivative", refused)
        return
    assert agrees(program, example(program, seed), seed) == []
    for derived in (found, ed.jvp(program)):
        verdict = derived.check()
        assert verdict or re.search("derivatives are 0|infinite number", verdict.detail)
