"""The element type of a result does not depend on the extents: a sum over one element is a sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.explorer.small import small_program
from einderive.ta.gradients.program import gradient
from einderive.ta.notation.parse import parse
from tests.amount import sampled

Line = Callable[[Any], Any]
FORMULAS: list[tuple[str, Line]] = [
    ("s = sum[i](A[i] > 0)", lambda a: np.sum(a > 0)),
    ("s = count[i](A[i] > 0)", lambda a: np.count_nonzero(a > 0)),
    ("s = mean[i](A[i] > 0)", lambda a: np.mean(a > 0)),
    ("s = prod[i](A[i] > 0)", lambda a: np.prod(a > 0)),
    ("s = mean[i](A[i])", np.mean),
    ("s = var[i](A[i])", np.var),
    ("s = std[i](A[i])", np.std),
    ("s = sum[i](A[i])", lambda a: np.sum(a.astype(np.int64) if a.dtype == bool else a)),
    ("s = 2 + mean[i](A[i])", lambda a: 2 + np.mean(a)),
    ("s = any[i](A[i] > 0)", lambda a: np.any(a > 0)),
    ("s = A[i]*A[i]", lambda a: np.sum(np.square(a, dtype=a.dtype if a.dtype != bool else int))),
    ("T = sum[i](A[i] > 0); s = bitwise_invert(T)", lambda a: ~np.sum(a > 0)),
    ("T = mean[i](A[i]); s = T*T", lambda a: np.mean(a) ** 2),
]
TYPES = ("bool", "int32", "int64", "float32", "float64")


def _values(n: int, dtype: str) -> Any:
    return np.array([2, -3, 5][:n]).astype(dtype)


def _kind(dtype: torch.dtype) -> str:
    return "f" if dtype.is_floating_point else "b" if dtype == torch.bool else "i"


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("text", "line"), FORMULAS)
def test_the_type_is_that_of_other_extents(text: str, line: Line, dtype: str) -> None:
    (one,) = output_types(parse(text, {"A": (1,)}, dtype))
    (three,) = output_types(parse(text, {"A": (3,)}, dtype))
    assert one == three
    assert _kind(one) == np.asarray(line(_values(3, dtype))).dtype.kind


@sampled(6)
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("dtype", ["bool", "int64", "float32"])
@pytest.mark.parametrize(("text", "line"), FORMULAS)
def test_evaluated(text: str, line: Line, dtype: str, n: int) -> None:
    values = _values(n, dtype)
    found = ed.evaluate(text, A=torch.from_numpy(values), budget=ed.Budget(states=20))
    assert (found.dtype,) == output_types(parse(text, {"A": (3,)}, dtype))
    np.testing.assert_allclose(found.numpy(), line(values), rtol=1e-6)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("text", ["s = count[i](A[i] > 0)", "s = mean[i](A[i])"])
def test_compiled_for_one_type_and_called_with_another(text: str, n: int) -> None:
    function = ed.compile(text, A=(n,), dtypes="float32", budget=ed.Budget(states=20))
    found = function(A=torch.tensor([2.0, -3.0, 5.0][:n], dtype=torch.float64))
    assert (found.dtype,) == output_types(parse(text, {"A": (3,)}, "float64"))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("text", "line"), FORMULAS)
def test_the_printed_formula_has_the_type(text: str, line: Line, dtype: str) -> None:
    program = parse(text, {"A": (1,)}, dtype)
    again = parse(str(program), {"A": (1,)}, dtype)
    assert again.roots() == program.roots()
    assert output_types(again) == output_types(program)


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize(("text", "line"), FORMULAS)
def test_the_derived_program_has_the_type(text: str, line: Line, dtype: str) -> None:
    """Of a root, sqrt(0), the program may be the integer 0: its result is cast."""
    derivation = ed.derive(text, A=(1,), dtypes=dtype, budget=ed.Budget(states=20))
    wanted = output_types(parse(text, {"A": (3,)}, dtype))
    if all(statement.typed is None for statement in derivation.source.statements):
        return
    assert output_types(derivation.program) == wanted
    again = str(derivation.program)
    if "A[" in again:  # the variance of one number is 0
        assert output_types(parse(again, {"A": (1,)}, dtype)) == wanted


def test_statements_of_a_gradient_have_their_types() -> None:
    program = parse("T = sum[i](A[i] > 0); Y[j] = T*B[j]", {"A": (1,), "B": (3,)})
    made = gradient(program, [t for t in program.inputs if t.name == "B"]).program
    types = dict(
        zip(("T", "dB"), output_types(replace(made, output_names=("T", "dB"))), strict=True)
    )
    assert types == {"T": torch.int64, "dB": torch.float32}
    assert "T = sum[" in str(made)


TWO = "T = sum[i](A[i] > 0); Y[j] = T*B[j]"


def test_the_steps_and_the_small_formula_have_the_types() -> None:
    """A float times an integer and a float times a bool are of one type, and need no other text."""
    derivation = ed.derive(TWO, A=(1,), B=(300,), budget=ed.Budget(states=20))
    small = small_program(derivation.source)
    assert small is not None
    sum_of_one = "T = sum[i](0 < A[0]) where i in 0:1"
    assert str(small).splitlines() == [sum_of_one, "Y[j] = B[j]*T"]
    told = [line.strip() for line in str(derivation).splitlines()]
    first = next(n for n, line in enumerate(told) if line.startswith("1. merge-stage"))
    assert told[first + 1 : first + 4] == ["Y[j] = B[j]*T", sum_of_one, "-> Y[j] = B[j]*(0 < A[0])"]
    assert str(derivation.program) == "Y[j] = B[j]*(0 < A[0])"


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_einsum_keeps_the_type_of_its_operands(dtype: str) -> None:
    """As NumPy's does, at every extent."""
    for n in (1, 3):
        values = np.ones(n).astype(dtype)
        found = ed.einsum("i,i->", *2 * [torch.from_numpy(values)])
        assert str(found.dtype).endswith(str(np.einsum("i,i->", values, values).dtype))


def test_a_saved_derivation_has_the_type(tmp_path: Path) -> None:
    ed.derive("s = mean[i](A[i] > 0)", A=(1,), budget=ed.Budget(states=20)).save(tmp_path / "d")
    found = ed.load(tmp_path / "d").compile()(A=torch.ones(1))
    assert found.dtype == torch.float32


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
@pytest.mark.parametrize("shape", [(0, 1), (0, 3), (2, 0), (0, 0)])
def test_a_result_without_elements_has_the_type(shape: tuple[int, int], dtype: str) -> None:
    for text in ("s[i] = sum[k](A[i,k])", "s[i] = sum[k](A[i,k] > 0)", "s[i] = mean[k](A[i,k])"):
        wanted = output_types(parse(text, {"A": (2, 3)}, dtype))
        assert output_types(parse(text, {"A": shape}, dtype)) == wanted, text


def test_floats_need_no_scope_of_their_own() -> None:
    (statement,) = parse("s = sum[i](A[i])", {"A": (1,)}).statements
    assert statement.typed is None
