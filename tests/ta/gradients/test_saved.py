"""Gradients that read kept scopes: what they read, and that a wrong one is found out."""

from __future__ import annotations

from typing import Any

import pytest

import einderive as ed
from einderive.ta.exact.interp import input_tensors
from einderive.ta.gradients.saved import Kept, is_gradient, readable, reading
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Statement
from einderive.ta.printing.show import show_program
from einderive.ta.printing.staged import staged_program

CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "output": ("Y[i] = exp(x[i])", {"x": (6,)}, "dx[i] = K0[i]*dY[i]"),
    "transposed": (
        "T[i,j] = sin(A[j,i]); y = T[i,j]*T[j,i]",
        {"A": (4, 4)},
        "T1[k,l] = 2*K0[l,k]*dy",
    ),
    "factors": (
        "P[i] = exp(x[i])/z[i]; Y[i,e] = P[i]*V[e]",
        {"x": (4,), "z": (4,), "V": (3,)},
        "dV[e] = K0[i]*dY[i,e]",
    ),
    "sign": (  # 0 < x where 0 < relu(x)
        "Y[b,i] = relu(sum[k](A[b,i,k]*B[k]) + C[i])",
        {"A": (1, 4, 3), "B": (3,), "C": (4,)},
        "dC[i] = where(0 < K0[0,i], dY[0,i], 0)",
    ),
    "sum": (
        "Y[b] = sum[o](exp(-sum[i]((X[b,i] - C[o,i])^2)))",
        {"X": (4, 3), "C": (5, 3)},
        "T1[b,k] = -dY[b]*exp(-K0[b,k])",
    ),
}


def kept_scopes(formula: ed.Program, gradient: ed.Program, results: bool = False) -> Kept:
    scopes = [] if results else readable(formula.roots(), gradient.roots())
    scopes = scopes or [*formula.roots()]
    return {s: expr.tensor(f"K{n}", s.shape, "float32") for n, s in enumerate(scopes)}


@pytest.mark.parametrize("name", CASES)
def test_kept_scopes_are_read(name: str) -> None:
    text, shapes, line = CASES[name]
    gradient = ed.grad(text, **shapes)
    assert gradient.of is not None
    kept = kept_scopes(gradient.of, gradient, name == "sign")
    found = reading(gradient.roots(), kept)
    outputs = [
        Statement(output.name, root, output.loop_names)
        for output, root in zip(gradient.outputs, found, strict=True)
    ]
    made = staged_program(outputs, found, input_tensors(*found), gradient.hints)
    assert line in show_program(made)
    assert is_gradient(found, gradient.roots(), kept)


def test_another_gradient_is_found_out() -> None:
    gradient = ed.grad("Y[i] = exp(x[i])", x=(6,))
    assert gradient.of is not None
    kept = kept_scopes(gradient.of, gradient)
    found = reading(gradient.roots(), kept)
    (scope,) = ed.parse("Y[i] = exp(2*x[i])", x=(6,)).roots()
    wrong: dict[Scope, Any] = {scope: next(iter(kept.values()))}
    assert not is_gradient(found, gradient.roots(), wrong)
    assert not is_gradient(found, ed.grad("Y[i] = sin(x[i])", x=(6,)).roots(), kept)
