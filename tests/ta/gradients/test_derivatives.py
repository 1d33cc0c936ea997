"""Derivatives of functions: against sympy, against differences of balls, and torch's at kinks."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
import sympy
import torch
from flint import arb, ctx

import einderive as ed
from einderive.ta.equality.balls import PreciseField
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Function
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import sampled

STATED: Final = [known for known in FUNCTIONS.values() if known.derivative]
SMOOTH: Final = [known for known in STATED if known.pieces is None and not known.steps]
x, y = sympy.symbols("x y", real=True)
SYMBOLIC: Final[dict[str, Any]] = {
    "acos": sympy.acos(x),
    "acosh": sympy.acosh(x),
    "asin": sympy.asin(x),
    "asinh": sympy.asinh(x),
    "atan": sympy.atan(x),
    "atan2": sympy.atan2(x, y),
    "atanh": sympy.atanh(x),
    "cos": sympy.cos(x),
    "cosh": sympy.cosh(x),
    "digamma": sympy.digamma(x),
    "erf": sympy.erf(x),
    "erfc": sympy.erfc(x),
    "erfinv": sympy.erfinv(x),
    "exp": sympy.exp(x),
    "exp2": 2**x,
    "expm1": sympy.exp(x) - 1,
    "finite": x,
    "conj": x,
    "real": x,
    "imag": 0 * x,
    "bitwise_invert": -1 - x,
    "gelu": x / 2 * sympy.erfc(-x / sympy.sqrt(2)),
    "hypot": sympy.sqrt(x**2 + y**2),
    "lgamma": sympy.loggamma(x),
    "log": sympy.log(x),
    "log10": sympy.log(x, 10),
    "log1p": sympy.log(1 + x),
    "log2": sympy.log(x, 2),
    "logaddexp": sympy.log(sympy.exp(x) + sympy.exp(y)),
    "pow": x**y,
    "rsqrt": 1 / sympy.sqrt(x),
    "sigmoid": 1 / (1 + sympy.exp(-x)),
    "silu": x / (1 + sympy.exp(-x)),
    "sin": sympy.sin(x),
    "sinh": sympy.sinh(x),
    "softplus": sympy.log(1 + sympy.exp(x)),
    "sqrt": sympy.sqrt(x),
    "tan": sympy.tan(x),
    "tanh": sympy.tanh(x),
}
OF_QUOTIENTS: Final = {"floor_divide", "fmod", "remainder"}
"""They jump where the quotient is whole, and have another formula on each side."""


def by_name(known: Function) -> str:
    return known.name


def points(known: Function) -> list[tuple[Fraction, Fraction]]:
    """Two operands in the domain, in general position."""
    found = [Fraction(n, 7) for n in (-17, -5, -2, 1, 3, 6, 12, 23)]
    if known.domain is not None:
        found = [point for point in found if known.domain.holds(point)]
    if known.name == "pow":
        found = [point for point in found if point > 0]
    return [(first, second) for first in found for second in (Fraction(9, 5), Fraction(-4, 3))]


@cache
def stated(text: str) -> Scope:
    shapes = {name: () for name in "xy" if re.search(rf"\b{name}\b", text)}
    return parse(f"Y = {text}", shapes, "float64", {}).roots()[0]


def derivative(known: Function, operand: int, field: Any, at: tuple[Any, Any]) -> Any:
    """The value of the formula that the function's file states."""
    scope = stated(known.derivative[operand])
    values = {name: np.array(v, dtype=object) for name, v in zip("xy", at, strict=True)}
    return evaluate(scope, values, field).item()


def test_every_function_has_its_derivative() -> None:
    without = {name for name, f in FUNCTIONS.items() if not f.derivative and f.arity}
    conditions = {name for name, f in FUNCTIONS.items() if f.truth}
    digits = {name for name, f in FUNCTIONS.items() if f.digits and f.arity == 2}
    assert without == conditions | digits | {"choose", "trigamma"}
    assert all(len(known.derivative) == known.arity for known in STATED)
    assert {known.name for known in SMOOTH} == SYMBOLIC.keys() | OF_QUOTIENTS


@sampled(2)
@pytest.mark.parametrize("name", SYMBOLIC)
def test_derivatives_are_those_of_sympy(name: str) -> None:
    known = FUNCTIONS[name]
    for operand, symbol in zip(range(known.arity), (x, y), strict=False):
        slope = sympy.diff(SYMBOLIC[name], symbol)
        for at in points(known)[:6]:
            given = {x: sympy.Rational(*at[0].as_integer_ratio())}
            given[y] = sympy.Rational(*at[1].as_integer_ratio())
            expected = float(slope.subs(given).evalf(20))
            found = derivative(known, operand, RealField(), (float(at[0]), float(at[1])))
            assert abs(found - expected) <= 1e-12 * max(1, abs(expected)), at


@pytest.mark.parametrize("known", STATED, ids=by_name)
def test_derivatives_are_the_limits_of_differences_of_balls(known: Function) -> None:
    """(f(x+h) - f(x-h))/(2h) = f'(x) + O(h^2)"""
    field, h = PreciseField(90), Fraction(1, 1 << 80)
    for operand in range(known.arity):
        for at in points(known)[:8]:

            def value(step: Fraction, at: Any = at, operand: int = operand) -> Any:
                moved = [a + step if i == operand else a for i, a in enumerate(at)]
                args = [field.convert(np.array(a, dtype=object)) for a in moved[: known.arity]]
                return field.apply(known.name, *args).item()

            found = derivative(known, operand, field, at)
            with ctx.workprec(300):
                difference = (value(h) - value(-h)) / (2 * arb(2) ** -80)
                assert abs(difference - found) < arb(10) ** -20 * (1 + abs(found)), at


KINKS: Final = {
    "relu(x)": [(0.0, 0.0)],
    "abs(x)": [(0.0, 0.0), (-0.0, 0.0)],
    "maximum(x, y)": [(1.0, 1.0), (0.0, 0.0), (2.0, 1.0), (1.0, 2.0)],
    "minimum(x, y)": [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0)],
    "x^y": [(0.0, 2.0), (2.0, 0.0), (0.0, 1.0), (3.0, -1.5)],
    "remainder(x, y)": [(5.5, 2.0), (-5.5, 2.0), (5.5, -2.0)],
    "fmod(x, y)": [(5.5, 2.0), (-5.5, 2.0), (5.5, -2.0)],
    "logaddexp(x, y)": [(1.0, 1.0), (800.0, -800.0)],
    "finite(x)": [(3.0, 0.0), (float("inf"), 0.0), (float("nan"), 0.0)],
    "hypot(x, y)": [(3.0, 4.0), (0.0, 1.0)],
    "atan2(x, y)": [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0)],
    "tanh(x)": [(40.0, 0.0)],
    "sigmoid(x)": [(-700.0, 0.0), (700.0, 0.0)],
    "silu(x)": [(-700.0, 0.0), (700.0, 0.0)],
    "gelu(x)": [(-3.0, 0.0), (30.0, 0.0)],
}


@pytest.mark.parametrize("text", KINKS)
def test_values_at_kinks_are_those_of_torch(text: str) -> None:
    program = ed.parse(f"Y = {text} + 0*y", x=(), y=(), dtypes="float64")
    found = ed.grad(program, wrt=["x", "y"] if "y" in text else "x", cotangent=1)
    name = text.split("(")[0]
    for at in KINKS[text]:
        operands = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in at]
        given = dict(zip("xy", operands, strict=True))
        if name == "x^y":
            result = operands[0] ** operands[1]
        else:
            space = {"torch": torch, "F": torch.nn.functional, **given}
            result = eval(FUNCTIONS[name].torch_call(*"xy"), space)
        expected = torch.autograd.grad(result, operands, allow_unused=True)
        values = {n: np.array(v) for n, v in zip("xy", at, strict=True)}
        for output, root in zip(found.outputs, found.roots(), strict=True):
            slope = expected["xy".index(found.results[output.name])]
            assert slope is not None
            got = evaluate(root, values, RealField()).item()
            np.testing.assert_allclose(got, slope.item(), rtol=1e-12, atol=1e-300, err_msg=str(at))
