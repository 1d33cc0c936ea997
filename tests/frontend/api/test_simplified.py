"""What everybody expects to be simplified is so in the best program, and what would lose digits or
hide a NaN is not."""

from __future__ import annotations

import re

import pytest

import einderive as ed
from tests.amount import sampled

SIMPLIFIED = [
    ("log(exp(x))", "x[i]"),
    ("sqrt(x^2)", "abs(x[i])"),
    ("max(x, max(y, x))", "maximum(x[i], y[i])"),
    ("abs(abs(-x))", "abs(x[i])"),
    ("where(y > 0, x, x)", "x[i]"),
    ("1/(1/x)", "x[i]"),
    ("relu(relu(x))", "relu(x[i])"),
    ("1 - sigmoid(x)", "sigmoid(-x[i])"),
    ("max(x,y) + min(x,y)", "x[i] + y[i]"),
    ("sign(x)*abs(x)", "x[i]"),
    ("floor(floor(x))", "floor(x[i])"),
    ("cos(-x)", "cos(x[i])"),
    ("where(x > 0, x, 0)", "relu(x[i])"),
    ("max(-x, -y)", "-minimum(x[i], y[i])"),
    ("abs(x)^2", "x[i]^2"),
    ("max(x, x+1)", "x[i] + 1"),
    ("relu(exp(x))", "exp(x[i])"),
    ("log(exp(x)*exp(y))", "x[i] + y[i]"),
    ("log(exp(x)/exp(y))", "x[i] - y[i]"),
    ("softplus(x) - softplus(-x)", "x[i]"),
    ("3*sigmoid(x) + 3*sigmoid(-x) + y", "y[i] + 3"),
    ("x != x", "isnan(x[i])"),
    # as written: exp(x+y) has fewer digits, and the others hide or show another NaN
    ("exp(x)*exp(y)", "exp(x[i])*exp(y[i])"),
    ("sqrt(x)^2", "sqrt(x[i])^2"),
    ("(x > 0) == 0", "(0 < x[i]) == 0"),
]


@sampled(8)
@pytest.mark.parametrize(("text", "best"), SIMPLIFIED)
def test_the_best_program(text: str, best: str) -> None:
    text = re.sub(r"\b([xy])\b", r"\1[i]", text)
    shapes = {name: (64,) for name in "xy" if f"{name}[" in text}
    found = str(ed.derive(f"Y[i] = {text}", budget=ed.Budget(states=150), **shapes).program)
    assert found == f"Y[i] = {best}"
